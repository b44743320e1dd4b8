// chromium.js: a headless browser, driven through a pipe: pages opened, keys and the pointer moved,
// pictures taken. Nothing is installed for it.
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs'), os = require('os'), path = require('path');
const {spawn} = require('child_process');

// open(program) -> a browser with one page.
exports.open = async function (program, width = 1280, height = 900) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'moontile-browser-'));
  const child = spawn(program, [
    '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe',
    '--no-first-run', '--disable-extensions', '--disable-background-networking',
    `--user-data-dir=${profile}`, `--window-size=${width},${height}`, 'about:blank',
  ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const waiting = new Map(), errors = [];
  let number = 0, session, loaded = () => {};

  let rest = Buffer.alloc(0);
  child.stdio[4].on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
      const m = JSON.parse(rest.subarray(0, end).toString());
      if (m.id) {
        const [yes, no] = waiting.get(m.id);
        waiting.delete(m.id);
        if (m.error) no(new Error(m.error.message)); else yes(m.result);
      } else if (m.method === 'Page.loadEventFired') loaded();
      else if (m.method === 'Runtime.exceptionThrown') errors.push(m.params.exceptionDetails);
      else if (m.method === 'Network.requestWillBeSent') b.requests.push(m.params.request.url);
    }
  });
  child.on('exit', () => waiting.forEach(([, no]) => no(new Error('the browser ended'))));

  const send = (method, params = {}) => new Promise((yes, no) => {
    waiting.set(++number, [yes, no]);
    child.stdio[3].write(JSON.stringify({id: number, method, params, sessionId: session}) + '\0');
  });

  const b = {requests: [], errors, send};
  const {targetInfos} = await send('Target.getTargets');
  const page = targetInfos.find((t) => t.type === 'page');
  session = (await send('Target.attachToTarget', {targetId: page.targetId, flatten: true})).sessionId;
  for (const domain of ['Page', 'Runtime', 'Network']) await send(domain + '.enable');

  b.goto = async (url) => {
    const done = new Promise((yes) => { loaded = yes; });
    await send('Page.navigate', {url});
    await done;
  };
  // What an expression of the page is; promises are waited for.
  b.value = async (expression) => {
    const r = await send('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
    if (r.exceptionDetails) throw new Error(JSON.stringify(r.exceptionDetails.exception || r));
    return r.result.value;
  };
  b.until = async (expression, ms = 20000) => {
    for (const end = Date.now() + ms; Date.now() < end;) {
      if (await b.value(expression)) return;
      await new Promise((yes) => setTimeout(yes, 20));
    }
    throw new Error('never: ' + expression);
  };
  const mouse = (type, x, y, more) => send('Input.dispatchMouseEvent', {type, x, y, ...more});
  b.move = (x, y) => mouse('mouseMoved', x, y);
  b.click = async (x, y) => {
    const button = {button: 'left', clickCount: 1};
    await b.move(x, y);
    await mouse('mousePressed', x, y, button);
    await mouse('mouseReleased', x, y, button);
  };
  b.type = (text) => send('Input.insertText', {text});
  b.key = async (key, modifiers = 0) => {
    const code = {Enter: 13, ArrowRight: 39, a: 65, Delete: 46}[key];
    const event = {key, code: key, windowsVirtualKeyCode: code, modifiers,
      text: key === 'Enter' && !modifiers ? '\r' : undefined};
    await send('Input.dispatchKeyEvent', {type: 'keyDown', ...event});
    await send('Input.dispatchKeyEvent', {type: 'keyUp', ...event});
  };
  b.dark = (on) => send('Emulation.setEmulatedMedia',
    {features: [{name: 'prefers-color-scheme', value: on ? 'dark' : 'light'}]});
  b.picture = async (file) => {
    const {data} = await send('Page.captureScreenshot', {format: 'png'});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
    return Buffer.from(data, 'base64');
  };
  b.pdf = async () => Buffer.from(
    (await send('Page.printToPDF', {preferCSSPageSize: true, printBackground: true})).data, 'base64');
  b.close = async () => {
    session = undefined;
    await send('Browser.close').catch(() => {});
    await new Promise((yes) => child.exitCode !== null ? yes() : child.on('exit', yes));
    fs.rmSync(profile, {recursive: true, force: true});
  };
  return b;
};

// playground.js: the playground in a browser, opened from a file: the tutorial typed into it, its
// tabs, fields, links and pictures, random operations beside the program's.
// usage: node spec/browser/playground.js CHROMIUM MOONTILE PAGE.html FOLDER
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert'), fs = require('fs'), path = require('path');
const {execFileSync} = require('child_process');
const {open} = require('./chromium.js');
const [chromium, moontile, page, folder] = process.argv.slice(2);
const RUNS = 20, COUNT = 500;

// The ```lua blocks of a page of Markdown, and the lines that they say are printed.
function blocksOf(file) {
  return [...fs.readFileSync(file, 'utf8').matchAll(/^```lua\n([^]*?)^```/gm)].map((m) => ({
    code: m[1],
    want: m[1].split('\n').map((l) => /--> ?(.*)$/.exec(l)).filter(Boolean).map((x) => x[1]),
  }));
}

const PRINTED = `[...document.querySelectorAll('#out pre')].map((p) => p.textContent).join('')`;
const FRAMES = `document.querySelectorAll('#out iframe').length`;

async function typed(b, code) {
  await b.value(`document.getElementById('code').focus()`);
  await b.key('a', 2);
  await b.type(code);
  await b.key('Enter', 2);
  return (await b.value(PRINTED)).replace(/\n$/, '');
}

// Where an element of the first picture stands, in the page.
const inPicture = (selector) => `(() => {
  const f = document.querySelector('#out iframe');
  const cell = f.contentDocument.querySelector('${selector}');
  cell.scrollIntoView({block: 'center', inline: 'center'});
  const at = f.getBoundingClientRect(), r = cell.getBoundingClientRect();
  return [at.left + r.left + r.width / 2, at.top + r.top + r.height / 2];
})()`;
const READY = `[...document.querySelectorAll('#out iframe')]
  .every((f) => f.contentDocument && f.contentDocument.getElementById('told'))`;
const BRIGHT = `document.querySelector('#out iframe').contentDocument
  .querySelectorAll('.c:not(.d)').length`;

async function tutorial(b) {
  let chapters = 0, blocks = 0;
  for (const name of fs.readdirSync('docs/tutorial').filter((f) => /^\d/.test(f)).sort()) {
    chapters++;
    for (const {code, want} of blocksOf('docs/tutorial/' + name)) {
      const got = await typed(b, code);
      // A prompt also prints the values of what stands by itself.
      const lines = got.split('\n');
      let k = 0;
      for (const line of want) {
        const at = lines.indexOf(line, k);
        assert.ok(at >= 0, `${name}: ${code}\n${line}\nis not in\n${got}`);
        k = at + 1;
      }
      blocks++;
    }
  }
  assert.strictEqual(chapters, 12);
  return blocks;
}

async function tabs(b) {
  const n = await b.value(`document.querySelectorAll('#tabs button').length`);
  for (let i = 0; i < n; i++) {
    const name = await b.value(`(() => { const t = document.querySelectorAll('#tabs button')[${i}];
      t.click(); return t.textContent; })()`);
    const code = await b.value(`document.getElementById('code').value`);
    assert.ok(!/\$/.test(code), name + ': ' + code);
    assert.doesNotMatch(await b.value(PRINTED), /attempt to|expected|near/, name);
    const drawn = (code.match(/^:draw|^picture/gm) || []).length;
    assert.strictEqual(await b.value(FRAMES), drawn, name);
    await b.until(READY);
    if (folder) await b.picture(path.join(folder, 'tab_' + name.replace(/\W+/g, '_') + '.png'));
  }
  return n;
}

async function texts(b) {
  const n = await b.value(`document.querySelectorAll('#chapters option').length`);
  for (let i = 0; i < n - 1; i++) {
    await b.value(`(() => { const c = document.getElementById('chapters'); c.value = '${i}';
      c.dispatchEvent(new Event('change')); })()`);
    const name = await b.value(`document.getElementById('chapters').selectedOptions[0].textContent`);
    assert.doesNotMatch(await b.value(PRINTED), /attempt to|stopped|near </, name);
  }
  return n - 1;
}

async function fields(b) {
  await b.value(`[...document.querySelectorAll('#tabs button')]
    .find((t) => t.textContent === 'layout').click()`);
  assert.match(await b.value(PRINTED), /^\(4,8\):\(8,1\)\t32\t32/);
  await b.value(`document.querySelector('[name=stride]').select()`);
  await b.type('(1,4)');
  assert.match(await b.value(PRINTED), /^\(4,8\):\(1,4\)\t32\t32/);
  await b.until(READY);
  const [x, y] = await b.value(inPicture('.c[data-o="13"]'));
  await b.move(x, y);
  await b.until(`/offset 13/.test(document.querySelector('#out iframe').contentDocument
    .getElementById('told').textContent)`);
}

async function isolate(b) {
  await b.value(`[...document.querySelectorAll('#tabs button')]
    .find((t) => t.textContent === 'MMA atom').click()`);
  await b.until(READY);
  assert.strictEqual(await b.value(BRIGHT), 512);
  await b.click(...await b.value(inPicture('.c[data-t="5"]')));
  await b.until(`${BRIGHT} === 16`);
  await b.value(`document.querySelector('[name=atom]').select()`);
  await b.type('SM70_8x8x4_F32F16F16F32_NT');
  await b.until(READY);
  assert.strictEqual(await b.value(BRIGHT), 8 * 4 * 2 + 64);
  assert.ok(await b.value(`document.querySelectorAll('#list_mma option').length`) > 1000);
}

async function link(b) {
  const code = 'print(layout(24, 2) / layout(4, 2)) -- "%", ü & #';
  await typed(b, code);
  await b.value(`document.getElementById('link').click()`);
  const url = await b.value('location.href');
  await b.goto('about:blank');
  await b.goto(url);
  await b.until('window.moontile');
  assert.strictEqual(await b.value(`document.getElementById('code').value`), code);
  assert.strictEqual(await b.value(PRINTED), '(4,(2,3)):(4,(2,16))\n');
}

async function operations(b) {
  const text = fs.readFileSync('web/operations.lua', 'utf8');
  for (let seed = 1; seed <= RUNS; seed++) {
    const code = `SEED, COUNT = ${seed}, ${COUNT}\n(function()\n${text}\nend)()\n`;
    const got = await b.value(`JSON.parse(window.moontile(${JSON.stringify(code)}))
      .map((p) => p.text || '').join('')`);
    const want = execFileSync(moontile, ['-e', code], {encoding: 'utf8', maxBuffer: 1 << 28});
    assert.ok(got === want, 'seed ' + seed);
  }
  return RUNS * COUNT;
}

async function main() {
  const bytes = fs.statSync(page).size;
  assert.ok(bytes < 3e6, 'the page has ' + bytes + ' bytes');
  const b = await open(chromium);
  await b.goto('file://' + path.resolve(page));
  await b.until('window.moontile');
  const blocks = await tutorial(b), n = await tabs(b), m = await texts(b);
  await fields(b);
  await isolate(b);
  if (folder) {
    await b.dark(true);
    await b.picture(path.join(folder, 'dark.png'));
    await b.dark(false);
  }
  await link(b);
  const ran = await operations(b);
  const ms = await b.value(`(() => { const began = performance.now();
    for (let i = 0; i < 200; i++) window.moontile('layout({4, 6}, "right") * layout{2, 12}');
    return (performance.now() - began) / 200; })()`);
  assert.ok(ms < 5, 'a composition takes ' + ms + ' ms');
  assert.deepStrictEqual(b.errors, []);
  assert.ok(b.requests.every((r) => /^(file|data|about|blob):/.test(r)), 'it loads nothing');
  await b.close();
  console.log(`web: in a browser, from a file of ${(bytes / 1e6).toFixed(2)} MB: ${blocks} snippets of ` +
              `the tutorial typed, ${n} tabs, ${m} texts, ${ran} random operations as the program; ` +
              `a composition in ${ms.toFixed(2)} ms`);
}
main().catch((e) => { console.error(e); process.exit(1); });

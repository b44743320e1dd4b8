// pictures.js: pages of tile.html in a browser: what the pointer tells, clicks, sliders, light and
// dark, labels inside of their cells as the browser's own letters are, one page on paper.
// usage: node spec/browser/pictures.js CHROMIUM MOONTILE FOLDER   (pictures are left in FOLDER)
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert'), fs = require('fs'), path = require('path');
const {execFileSync} = require('child_process');
const {open} = require('./chromium.js');
const [chromium, moontile, folder] = process.argv.slice(2);

execFileSync(moontile, ['spec/browser/pictures.lua', folder]);
const url = (name) => 'file://' + path.resolve(folder, name + '.html');

// Labels and texts that stick out of their cell, or out of the picture.
const OVERFLOWING = `(() => {
  const bad = [], svg = document.querySelector('svg').getBoundingClientRect();
  document.querySelectorAll('.c').forEach((c) => {
    const r = c.querySelector('rect').getBoundingClientRect();
    c.querySelectorAll('text').forEach((t) => {
      const b = t.getBoundingClientRect();
      if (b.left < r.left - .5 || b.right > r.right + .5) bad.push(t.textContent);
    });
  });
  document.querySelectorAll('text').forEach((t) => {
    const b = t.getBoundingClientRect();
    if (b.left < svg.left - .5 || b.right > svg.right + .5 || b.bottom > svg.bottom + .5)
      bad.push(t.textContent);
  });
  return bad;
})()`;

// The middle of the cell with these attributes, scrolled to where it can be seen.
const middle = (selector) => `(() => {
  const c = document.querySelector('${selector}');
  c.scrollIntoView({block: 'center', inline: 'center'});
  const r = c.getBoundingClientRect();
  return [r.left + r.width / 2, r.top + r.height / 2];
})()`;
const TOLD = `document.getElementById('told').textContent`;
const BRIGHT = `document.querySelectorAll('.c:not(.d)').length`;

async function drawn(b, name) {
  await b.goto(url(name));
  assert.deepStrictEqual(await b.value(OVERFLOWING), [], name);
  const light = await b.picture(path.join(folder, name + '.png'));
  await b.dark(true);
  const dark = await b.picture(path.join(folder, name + '.dark.png'));
  assert.ok(!light.equals(dark), name + ' is the same in the dark');
  await b.dark(false);
  const pdf = (await b.pdf()).toString('latin1');
  assert.strictEqual((pdf.match(/\/Type\s*\/Page\b/g) || []).length, 1, name + ': pages on paper');
}

async function main() {
  const b = await open(chromium);
  const names = fs.readdirSync(folder).filter((f) => f.endsWith('.html'));
  for (const file of names) await drawn(b, file.replace('.html', ''));

  // The atom: T14 V1 of C is (3,5).
  await b.goto(url('sm80'));
  await b.move(...await b.value(middle('g.p:nth-of-type(3) .c[data-t="14"][data-v="1"]')));
  assert.match(await b.value(TOLD), /\(3,5\).*thread 14.*value 1/);
  const all = await b.value(BRIGHT);
  assert.strictEqual(all, 16 * 16 + 16 * 8 + 16 * 8);
  await b.click(...await b.value(middle('g.p:nth-of-type(3) .c[data-t="14"]')));
  assert.strictEqual(await b.value(BRIGHT), 8 + 4 + 4);
  assert.strictEqual(await b.value(`document.getElementById('to').value`), '14');
  await b.value(`document.getElementById('t').focus()`);
  await b.key('ArrowRight');
  assert.strictEqual(await b.value(`document.getElementById('to').value`), '15');
  assert.strictEqual(await b.value(`[...document.querySelectorAll('.c:not(.d)')]
    .every((c) => c.getAttribute('data-t') === '15')`), true);
  await b.value(`document.getElementById('v').focus()`);
  await b.key('ArrowRight');
  assert.strictEqual(await b.value(BRIGHT), 3);
  await b.value(`document.getElementById('all').click()`);
  assert.strictEqual(await b.value(BRIGHT), all);

  // A layout: coordinate, offset, bank; the button for the dark.
  await b.goto(url('hierarchy'));
  await b.move(...await b.value(middle('.c[data-o="25"]')));
  assert.match(await b.value(TOLD), /coordinate \(\(1,0,0\),\(1,1,0\)\).*offset 25.*bank 25/);
  const page = `getComputedStyle(document.body).backgroundColor`;
  const before = await b.value(page);
  await b.value(`document.getElementById('theme').click()`);
  assert.notStrictEqual(await b.value(page), before);

  assert.deepStrictEqual(b.errors, []);
  assert.ok(b.requests.every((r) => /^(file|data|about|blob):/.test(r)), 'it loads nothing');
  await b.close();
  console.log(`pictures: ${names.length} pages, light, dark and on paper`);
}
main().catch((e) => { console.error(e); process.exit(1); });

// check.js: the page's answers are the program's: the tutorial, and random operations.
// usage: node web/check.js MOONTILE build-web/program.js
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs'), path = require('path'), {execFileSync} = require('child_process');
const [native, program] = process.argv.slice(2).map((p) => path.resolve(p));
const RUNS = 20, COUNT = 500;

function fail(what) { console.error('web: ' + what); process.exit(1); }

// Code blocks of a page, and what their lines say is printed.
function blocksOf(file) {
  const found = [];
  for (const m of fs.readFileSync(file, 'utf8').matchAll(/^```lua\n([^]*?)^```/gm)) {
    const want = m[1].split('\n').map((l) => /--> ?(.*)$/.exec(l)).filter(Boolean).map((x) => x[1]);
    found.push({code: m[1], want: want.join('\n')});
  }
  return found;
}

require(program)().then((m) => {
  const call = (name, text) => m.ccall(name, 'string', ['string'], [text]);
  const why = call('page_open', fs.readFileSync('web/page.lua', 'utf8'));
  if (why) fail(why);
  const run = (code) => JSON.parse(call('page_run', code)).map((p) => p.text || '').join('');

  let blocks = 0;
  for (const name of fs.readdirSync('docs/tutorial')) {
    for (const b of blocksOf('docs/tutorial/' + name)) {
      const got = run('(function()\n' + b.code + 'end)()').replace(/\n$/, '');
      if (b.want && got !== b.want) fail(name + ': ' + b.code + '\n' + got + '\ninstead of\n' + b.want);
      blocks++;
    }
  }

  // In a function: what stands at the top of a page is run line by line.
  const text = fs.readFileSync('web/operations.lua', 'utf8');
  let same = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const code = `SEED, COUNT = ${seed}, ${COUNT}\n(function()\n${text}\nend)()\n`;
    const got = run(code), want = execFileSync(native, ['-e', code], {encoding: 'utf8', maxBuffer: 1 << 28});
    if (got !== want) {
      const a = got.split('\n'), b = want.split('\n'), i = a.findIndex((l, k) => l !== b[k]);
      fail(`seed ${seed}: ${a[i]}\ninstead of\n${b[i]}`);
    }
    same += COUNT;
  }

  const began = process.hrtime.bigint();
  for (let i = 0; i < 200; i++) run('layout({4, 6}, "right") * layout{2, 12}');
  const us = Number(process.hrtime.bigint() - began) / 200e3;
  console.log(`web: ${blocks} snippets of the tutorial, ${same} random operations: as the program; ` +
              `a composition typed and answered in ${us.toFixed(0)} us`);
}).catch((e) => fail(String(e && e.stack || e)));

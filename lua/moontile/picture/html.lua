-- moontile.picture.html - a picture as a page in one file: what the pointer is on is told, a click
-- isolates a thread, sliders step through threads and values; light and dark.
-- SPDX-License-Identifier: MIT
--
-- The page is an SVG whose cells have attributes, a style and a script. It loads nothing.

local need = ...
local svg = need "picture.svg"
local format, match = string.format, string.match

local STYLE = [[
:root{color-scheme:light dark;--page:#ffffff;--ink:#1a1a1a;--soft:#555;--box:#444;--empty:#fff;
--dim:#fafafa;--faint:#b5b5b5;--bar:#f3f4f6;--mark:#c2410c}
@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){--page:#15181c;
--ink:#e8e8e8;--soft:#aaa;--box:#ccc;--empty:#22262b;--dim:#1c2025;--faint:#5d636b;--bar:#22262b;
--mark:#fb923c}}
@media screen{:root[data-theme=dark]{color-scheme:dark;--page:#15181c;--ink:#e8e8e8;--soft:#aaa;
--box:#ccc;--empty:#22262b;--dim:#1c2025;--faint:#5d636b;--bar:#22262b;--mark:#fb923c}}
:root[data-theme=light]{color-scheme:light}
body{margin:0;background:var(--page);color:var(--ink);
font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}
header{position:sticky;top:0;background:var(--bar);padding:8px 12px;display:flex;flex-wrap:wrap;
gap:6px 18px;align-items:center;z-index:1}
header label{display:flex;gap:6px;align-items:center}
header output{min-width:3.5em}
#told{flex-basis:100%;min-height:1.3em}
main{overflow:auto;padding:8px}
svg{max-width:none}
button{font:inherit}
@media print{header{display:none}main{overflow:visible;padding:0}
svg{display:block;max-width:100%;height:auto}}
.c{cursor:pointer}.c:hover rect,.c.on rect{stroke:var(--mark);stroke-width:2}
]]

local SCRIPT = [[
(function(){
var root=document.documentElement,cells=[].slice.call(document.querySelectorAll('.c'));
var told=document.getElementById('told'),hint=told.textContent;
var sliders={t:document.getElementById('t'),v:document.getElementById('v')};
var chosen={t:null,v:null};
function numbers(cell,key){
  var text=cell.getAttribute('data-'+key);
  return text===null?null:text.split(' ').map(Number);
}
cells.forEach(function(c){c.owners={t:numbers(c,'t'),v:numbers(c,'v')};
  c.was=c.classList.contains('d');});
/* A cell that all threads have stays when one is chosen. */
function kept(c){
  var t=c.owners.t,v=c.owners.v;
  if(chosen.t===null&&chosen.v===null)return !c.was;
  if(!t)return false;
  for(var k=0;k<t.length;k++){
    var shared=t[k]<0;
    if((chosen.t===null||shared||t[k]===chosen.t)&&
       (chosen.v===null||!v||v[k]===chosen.v))return true;
  }
  return false;
}
function paint(){
  cells.forEach(function(c){c.classList.toggle('d',!kept(c));});
  ['t','v'].forEach(function(key){
    if(!sliders[key])return;
    document.getElementById(key+'o').value=chosen[key]===null?'all':String(chosen[key]);
    if(chosen[key]!==null)sliders[key].value=chosen[key];
  });
}
function names(list){return list.map(function(x){return x<0?'all':x;}).join(', ');}
function tell(c){
  var said=[],at=function(key){return c.getAttribute('data-'+key);};
  if(at('c')!==null)said.push((at('i')!==null?'coordinate ':'')+at('c'));
  if(at('i')!==null)said.push('index '+at('i'));
  var time=c.closest('.p').getAttribute('data-time');
  if(at('o')!==null)said.push((time?'byte ':'offset ')+at('o'));
  if(c.owners.t)said.push('thread '+names(c.owners.t));
  if(c.owners.v)said.push('value '+names(c.owners.v));
  if(at('b')!==null)said.push('bank '+at('b'));
  told.textContent=said.length?said.join('   '):hint;
}
document.addEventListener('mouseover',function(e){
  var c=e.target.closest&&e.target.closest('.c');
  if(c)tell(c);
});
document.addEventListener('click',function(e){
  var c=e.target.closest&&e.target.closest('.c');
  if(!c||!c.owners.t||c.owners.t[0]<0)return;
  chosen.t=chosen.t===c.owners.t[0]?null:c.owners.t[0];
  tell(c);paint();
});
['t','v'].forEach(function(key){
  if(sliders[key])sliders[key].addEventListener('input',function(){
    chosen[key]=Number(this.value);paint();});
});
document.getElementById('all').addEventListener('click',function(){
  chosen.t=chosen.v=null;paint();told.textContent=hint;});
document.getElementById('theme').addEventListener('click',function(){
  var dark=root.getAttribute('data-theme')==='dark'||(!root.hasAttribute('data-theme')&&
    matchMedia('(prefers-color-scheme:dark)').matches);
  root.setAttribute('data-theme',dark?'light':'dark');
});
})();
]]

-- Printed, a picture is one page of its own size, light and without the sliders.
local function paper(body)
  local width, height = match(body, '^<svg[^>]- width="(%d+)" height="(%d+)"')
  return format("@page{size:%spx %spx;margin:0}\n", width, height)
end

-- How many threads and values there are to choose from.
local function most_of(picture, key)
  local most = 0
  for _, p in ipairs(picture.panels) do most = math.max(most, p[key] or 0) end
  return most
end

local function slider(id, name, n)
  if n < 2 then return "" end
  return format('<label>%s <input type="range" id="%s" min="0" max="%d" value="0"> '
                .. '<output id="%so">all</output></label>\n', name, id, n - 1, id)
end

-- html(picture) -> text of a page
return function(picture)
  local threads = most_of(picture, "threads")
  local body = svg.body(picture, true)
  local hint = threads > 0 and "the pointer tells; a click isolates a thread" or "the pointer tells"
  return table.concat {
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    '<meta name="viewport" content="width=device-width,initial-scale=1">\n',
    "<title>", svg.escape(picture.title), "</title>\n<style>\n", STYLE, paper(body),
    "</style>\n</head>\n",
    "<body>\n<header>\n", slider("t", "thread", threads),
    slider("v", "value", most_of(picture, "values")),
    '<button id="all"', threads > 0 and "" or " hidden", ">all</button>\n",
    '<button id="theme">light/dark</button>\n',
    '<div id="told" aria-live="polite">', hint, "</div>\n</header>\n<main>\n",
    body, "</main>\n<script>\n", SCRIPT, "</script>\n</body>\n</html>\n",
  }
end

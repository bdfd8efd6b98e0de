/** How the inspect page looks, and the little that it does: both work on what is there without them. */

export const inspectStyle = `
.sum{border-left-color:var(--accent);margin:18px 0}.list th,.list td{padding-right:16px}.list td:first-child{width:60%}.list b{overflow-wrap:anywhere}.list .facts{font-size:13px}.num{text-align:right!important;white-space:nowrap;font-variant-numeric:tabular-nums}
.bar{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin:0 -8px 22px;padding:10px 8px;background:var(--paper);border-bottom:1px solid var(--line)}
.bar label{display:inline-flex;gap:5px;align-items:center;padding:2px 10px;border:1px solid var(--line);border-radius:14px;font-size:13px;cursor:pointer;user-select:none}.bar label:has(:checked){background:var(--field)}.bar label:not(:has(:checked)){color:var(--soft)}
.bar input[type=checkbox]{margin:0;accent-color:var(--accent)}.bar input[type=search]{flex:1 1 180px;min-width:0;padding:5px 10px;border:1px solid var(--line);border-radius:14px;background:var(--field);color:var(--ink);font:inherit;font-size:13px}
.bar :focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}.hits{color:var(--soft);font-size:12px}
.line{list-style:none;margin:0;padding:0 0 0 22px;border-left:2px solid var(--line)}.line .line{margin:10px 0 0 2px}
.item{position:relative;margin:0 0 18px}.item::before{content:"";position:absolute;left:-28px;top:7px;width:10px;height:10px;border-radius:50%;border:2px solid var(--paper);background:var(--line)}
.prompt::before{background:var(--accent)}.plan::before,.phase::before{background:var(--good)}.refused::before{background:var(--bad)}
.who{display:flex;gap:8px;align-items:baseline;color:var(--soft);font-size:12px}.who b{color:var(--ink);font-size:13px}.who time{margin-left:auto;white-space:nowrap;font-variant-numeric:tabular-nums}
.text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}.text code{background:var(--field);padding:1px 5px;border-radius:4px}.text pre{margin:8px 0}
.prompt .text{margin-top:4px;padding:10px 14px;border-left:3px solid var(--accent);border-radius:0 8px 8px 0;background:var(--field)}
.call>details{margin:0;padding:0}.call>details>summary{display:flex;gap:10px;align-items:baseline;padding:8px 14px}summary{list-style:none}summary::-webkit-details-marker{display:none}summary::before{content:"›";display:inline-block;margin-right:8px;color:var(--soft);transition:transform .1s}details[open]>summary::before{transform:rotate(90deg)}.call>details>summary::before{margin:0}.call::before,.agent::before,.plan:has(details)::before{top:15px}
.call summary b{white-space:nowrap}.call summary code{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;color:var(--soft)}.call summary time{color:var(--soft);font-size:12px;white-space:nowrap;font-variant-numeric:tabular-nums}.in{padding:0 14px 12px}
.in details{margin:8px 0 0}.in details>pre{margin-top:8px}.refused>details{border-left:3px solid var(--bad)}
.say{display:flex;gap:8px;margin:5px 0 0;font-size:13px;color:var(--soft);overflow-wrap:anywhere}.say .badge{flex:none;align-self:flex-start}.say div{min-width:0}.say code{color:var(--ink)}.call>.say{margin-left:14px}
.phase{display:flex;gap:10px;align-items:center;font-size:13px;color:var(--soft)}.phase b{color:var(--ink)}.phase::after{content:"";flex:1;border-top:1px solid var(--line)}
.note{font-size:13px;color:var(--soft);overflow-wrap:anywhere}.day{margin:0 0 18px -22px;padding-left:22px;color:var(--soft);font-size:12px;letter-spacing:.04em}
.diff{padding:6px 0}.diff span{display:block;padding:0 12px;min-height:1.5em}.diff .add{background:var(--goodbg);color:var(--good)}.diff .del{background:var(--badbg);color:var(--bad)}
.list~.bar{margin-top:20px}.agents{margin:8px 0 0 14px}.bar:not(:has(label)){border:0;margin-bottom:4px}.left{padding:10px 14px;border:1px dashed var(--line);border-radius:8px;color:var(--soft);font-size:13px}.pages{display:flex;gap:16px;justify-content:center;margin:24px 0;font-size:14px}.pages a,.back a{color:var(--accent)}
.out{display:none!important}
body:has(#k-prompt:not(:checked)) .prompt,body:has(#k-reply:not(:checked)) .reply,body:has(#k-call:not(:checked)) .call:not(.refused),body:has(#k-refused:not(:checked)) .refused,body:has(#k-hook:not(:checked)) .hook,body:has(#k-work:not(:checked)) .phase,body:has(#k-work:not(:checked)) .plan,body:has(#k-agent:not(:checked)) .agent,body:has(#k-note:not(:checked)) .note{display:none}
@media(max-width:560px){main{padding:24px 14px 60px}h1{font-size:22px}.line{padding-left:16px}.item::before{left:-22px}.day{margin-left:-16px;padding-left:16px}.call>details>summary{flex-wrap:wrap;gap:4px 8px}.call summary code{order:9;flex:1 0 100%}.list thead{display:none}.list tr{display:block;padding:12px 0;border-bottom:1px solid var(--line)}.list td{display:inline-block;border:0;padding:0 12px 0 0}.list td:first-child{display:block;width:auto}.sum div{flex-basis:90px;padding:10px 12px}.bar{position:static}}
@media print{.bar,.pages{display:none}}`

export const inspectScript = `
const find = document.querySelector('#find'), hits = document.querySelector('.hits')
const items = [...document.querySelectorAll('.item, .row')]
find?.removeAttribute('hidden')
find?.addEventListener('input', () => {
  const words = find.value.trim().toLowerCase()
  let found = 0
  for (const item of items) {
    const fits = words === '' || item.textContent.toLowerCase().includes(words)
    item.classList.toggle('out', !fits)
    if (fits) found++
  }
  hits.textContent = words === '' ? '' : found + ' of ' + items.length
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || !find || document.activeElement === find) return
  event.preventDefault()
  find.focus()
})
`

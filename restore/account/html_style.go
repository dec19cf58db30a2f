// The style of the HTML page: light and dark, on paper, on a telephone.

package account

const htmlStyle = `:root{--bg:#f6f7f9;--card:#fff;--ink:#1c2330;--soft:#5a6577;--line:#dde2ea;--good:#0f6b3c;--goodbg:#ddf3e5;--warn:#7a5200;--warnbg:#fcefce;--bad:#a31621;--badbg:#fbe0e1;--bar:#3566c5}
@media (prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1a202a;--ink:#e6eaf1;--soft:#9aa6b8;--line:#303947;--good:#7fd9a4;--goodbg:#143524;--warn:#f0c667;--warnbg:#3a2e10;--bad:#ff9ba1;--badbg:#43181c;--bar:#7ba4f2}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:72rem;padding:1.5rem 1.25rem 3rem;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.9rem;line-height:1.2;margin:.1rem 0 .5rem}
h2{font-size:1.2rem;margin:0 0 .75rem}
h3,h4{font-size:1rem;margin:1rem 0 .5rem}
h2,h3,h4{break-after:avoid}
.kicker{margin:0;color:var(--soft);font-size:.85rem;letter-spacing:.04em;text-transform:uppercase}
.lead{font-size:1.15rem;margin:.25rem 0 .75rem;max-width:50rem}
.verdict{display:inline-block;margin:0 0 1rem;padding:.25rem .75rem;border-radius:1rem;font-size:.9rem}
.note{color:var(--soft);margin:.25rem 0 .75rem;font-size:.92rem}
.none{color:var(--soft)}
.cards{list-style:none;margin:0 0 1rem;padding:0;display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr))}
.cards li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .85rem}
.label{display:block;color:var(--soft);font-size:.8rem}
.figure{display:block;font-size:1.05rem;font-weight:600}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.35rem .9rem;margin:0 0 1.25rem;padding:0;font-size:.9rem}
a{color:var(--bar)}
main>section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem 1.1rem;margin:0 0 1rem}
dl{margin:0 0 .5rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(19rem,1fr));gap:.25rem 1.5rem}
dl div{display:flex;gap:.6rem}
dt{flex:0 0 8.5rem;color:var(--soft)}
dd{margin:0;min-width:0}
table{width:100%;border-collapse:collapse;font-size:.93rem;margin:.25rem 0}
th,td{text-align:start;vertical-align:top;padding:.4rem .6rem .4rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;font-size:.82rem}
tbody tr:last-child td{border-bottom:0}
td:first-child{min-width:6rem}
code{font:0.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
ul{padding-inline-start:1.2rem;margin:.25rem 0 .5rem}
.badge{padding:.05rem .45rem;border-radius:.5rem;-webkit-box-decoration-break:clone;box-decoration-break:clone}
td .short,th{white-space:nowrap}
.good{background:var(--goodbg);color:var(--good)}
.warn{background:var(--warnbg);color:var(--warn)}
.bad{background:var(--badbg);color:var(--bad)}
.bar{display:block;height:.35rem;margin-top:.25rem;background:var(--line);border-radius:.2rem;overflow:hidden;min-width:4rem}
.bar i{display:block;height:100%;background:var(--bar)}
.bar i.bad{background:var(--bad)}
footer{color:var(--soft);font-size:.85rem;margin-top:1.5rem}
@media (max-width:45rem){body{padding:1rem .75rem 2rem}dl{grid-template-columns:1fr}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody{display:block;width:100%}
tr{display:flex;flex-wrap:wrap;gap:.05rem .8rem;border-bottom:1px solid var(--line);padding:.4rem 0;line-height:1.35}
tbody tr:last-child{border-bottom:0}
td,td:first-child{border:0;padding:0;display:flex;align-items:baseline;gap:.35rem;min-width:0;max-width:100%}
td::before{content:attr(data-label);flex:none;color:var(--soft);font-size:.85rem}
td.text{flex:1 1 100%}
td.text::before,td:has(>code)::before,td[data-label=When]::before{content:none}
td:has(>.none){display:none}
td>*{min-width:0}}
@media print{:root{--bg:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--good:#0f6b3c;--goodbg:#fff;--warn:#7a5200;--warnbg:#fff;--bad:#a31621;--badbg:#fff;--bar:#555}
body{max-width:none;padding:0;font-size:10.5pt}
nav{display:none}
main>section,.cards li{border-radius:0;break-inside:auto}
.cards li,tr,dl div{break-inside:avoid}
thead{display:table-header-group}
.badge,.verdict{border:1px solid currentColor}}
`

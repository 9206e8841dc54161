//! How the page looks, in light and in dark.
//!
//! The colours of series are those of Okabe and Ito (2008), which people with any of the common
//! colour blindnesses tell apart, darkened or lightened until each has a contrast of at least 3
//! to its ground.

/// The style sheet.
pub(super) const SHEET: &str = "\
:root{color-scheme:light dark;--ground:#fff;--raised:#f5f6f8;--ink:#1b1f24;--soft:#5b6470;\
--line:#dfe3e8;--warn:#8a4b00;--warn-ground:#fff4e0;--accent:#0067a8;\
--c0:#0072b2;--c1:#c96a00;--c2:#008a64;--c3:#b5407f;--c4:#2e9bd6;--c5:#c0430b;--c6:#5c5f66;\
--c7:#8a7a00}
@media(prefers-color-scheme:dark){:root{--ground:#14171b;--raised:#1d2127;--ink:#e8eaed;\
--soft:#a3abb6;--line:#333a43;--warn:#ffc46b;--warn-ground:#33270f;--accent:#6cb8f0;\
--c0:#4aa8e8;--c1:#f0a03c;--c2:#2fc597;--c3:#e28bbd;--c4:#8fd3f7;--c5:#f2794a;--c6:#aeb4bd;\
--c7:#e0d050}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);\
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{max-width:66rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
header{margin-bottom:1.75rem}
.brand{margin:0;color:var(--accent);font-weight:600;font-size:.85rem;letter-spacing:.06em;\
text-transform:uppercase}
h1{margin:.1rem 0 .2rem;font-size:2.6rem;line-height:1.15;letter-spacing:-.02em}
.sentence{margin:0;font-size:1.2rem;max-width:46rem;text-wrap:balance}
.when{margin:.6rem 0 0;color:var(--soft);font-size:.9rem}
h2{margin:2.75rem 0 .75rem;font-size:1.25rem}
h3{margin:0;font-size:1.05rem}
section>ul,details>ul{margin:0;padding-left:1.2rem;max-width:50rem}
section>ul>li,details>ul>li{margin:.35rem 0}
summary{margin:.5rem 0;cursor:pointer;color:var(--accent)}
#findings{margin-top:1.5rem;padding:1rem 1.25rem 1.1rem;background:var(--raised);\
border-left:4px solid var(--accent);border-radius:4px}
#findings h2,#warnings h2{margin:0 0 .4rem;font-size:1rem}
#findings ul{font-size:1.05rem}
#warnings{padding:.9rem 1.25rem;background:var(--warn-ground);border-left:4px solid var(--warn);\
border-radius:4px}
#warnings h2{color:var(--warn)}
#warnings ul{font-size:.95rem}
figure{margin:2.5rem 0 0}
figcaption{margin:.15rem 0 0;color:var(--soft);max-width:50rem}
.wide{overflow-x:auto;margin-top:.6rem}
@media(min-width:66rem){#rows{position:relative;left:50%;width:fit-content;\
min-width:100%;max-width:min(96vw,92rem);transform:translateX(-50%)}}
.wide>svg{display:block;width:100%;min-width:46rem;height:auto}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1.4rem;margin:.55rem 0 0;padding:0;\
list-style:none;font-size:.9rem}
.legend li{display:flex;align-items:center;gap:.45rem}
.key{width:28px;height:24px;flex:none}
svg text{fill:var(--ink);font-size:13px;font-family:inherit}
svg .axis{fill:var(--soft)}
svg .name{text-anchor:end}
svg .figure{font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--ground);\
stroke-width:6px}
.s0{--s:var(--c0)}.s1{--s:var(--c1)}.s2{--s:var(--c2)}.s3{--s:var(--c3)}
.s4{--s:var(--c4)}.s5{--s:var(--c5)}.s6{--s:var(--c6)}.s7{--s:var(--c7)}
.grid{stroke:var(--line);fill:none}
.base{stroke:var(--soft);fill:none}
.bar{fill:var(--s)}
.line{stroke:var(--s);stroke-width:2;fill:none;stroke-linejoin:round}
.dashed .line{stroke-dasharray:6 4}
.dashed .bar{fill-opacity:.55}
.dot{fill:var(--s);stroke:var(--ground);stroke-width:1.2}
.spread{stroke:var(--ink);stroke-width:1.2;fill:none;opacity:.75}
.published{fill:var(--ground);fill-opacity:.6;stroke:var(--ink);stroke-width:1.8}
.published.own{stroke:var(--s,var(--ink))}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem .3rem 0;text-align:left;border-bottom:1px solid var(--line);\
white-space:nowrap}
th{color:var(--soft);font-weight:600;vertical-align:bottom}
td.number,th.number{text-align:right}
td.long{white-space:normal;min-width:15rem}
td:last-child,th:last-child{padding-right:0}
td.quiet{color:var(--soft)}
tbody tr:hover{background:var(--raised)}
.strip{display:block;width:120px;height:18px}
.sample{stroke:var(--c0);stroke-width:1.4;opacity:.55;fill:none}
.median{stroke:var(--ink);stroke-width:1.6;fill:none}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.5rem;margin:0 0 1rem}
dt{color:var(--soft)}
dd{margin:0}
#machine p{color:var(--soft);font-size:.9rem}
footer{margin-top:3rem;padding-top:1.25rem;border-top:1px solid var(--line);color:var(--soft);\
font-size:.9rem}
footer p{margin:0 0 .5rem}
pre{margin:0;padding:.7rem 1rem;overflow-x:auto;background:var(--raised);color:var(--ink);\
border-radius:4px;font:14px/1.4 ui-monospace,'DejaVu Sans Mono',monospace}
@media print{main{max-width:none}figure,tr{break-inside:avoid}}
";

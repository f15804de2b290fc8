//! The looks: calm colours that colour-blind people tell apart (blue against orange), in light
//! and dark.

/// Style of the charts, also inside files of their own.
pub(crate) const CHART_CSS: &str = "\
:root{--paper:#fff;--ink:#1d232a;--quiet:#5b6672;--hair:#e3e7eb;--good:#0072b2;--bad:#d55e00;\
--mended:#f3b98d;--plain:#98a3ae;--band:#0072b222;\
--s0:#c44e00;--s1:#ee9f5f;--s2:#f4dcb8;--s3:#9fcbe4;--s4:#2b83ba}\
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e8ecf0;--quiet:#9aa6b2;\
--hair:#2b333c;--good:#56b4e9;--bad:#f08a3c;--mended:#8a5a34;--plain:#74808c;--band:#56b4e92b;\
--s0:#e2661a;--s1:#b5713a;--s2:#6b5a45;--s3:#2d5f80;--s4:#3f95cc}}\
svg.chart{font:13px system-ui,sans-serif;background:var(--paper)}\
.chart text{fill:var(--ink)}.chart .tick,.chart .unit{fill:var(--quiet);font-size:12px}\
.chart .value{font-variant-numeric:tabular-nums}\
.chart .mark{fill:var(--ink);font-size:12px;paint-order:stroke;stroke:var(--paper);stroke-width:3px}\
.grid{stroke:var(--hair)}.good{fill:var(--good)}.bad{fill:var(--bad)}.mended{fill:var(--mended)}\
.plain{fill:var(--plain)}.dot{fill:var(--good);fill-opacity:.6}\
.cross{fill:none;stroke:var(--ink);stroke-width:2}\
.whisker{stroke:var(--quiet)}.box{fill:var(--good);fill-opacity:.35}\
.median{stroke:var(--good);stroke-width:2.5}\
.band{fill:var(--band)}.curve{fill:none;stroke:var(--good);stroke-width:2}\
.failed{stroke:var(--bad);stroke-width:1.5}\
.range{fill:none;stroke:var(--ink);stroke-opacity:.7;stroke-dasharray:4 4}\
.goal{fill:none;stroke:var(--ink);stroke-width:1.5}.robot{fill:var(--ink)}\
.s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}";

/// Style of the page around them.
pub(crate) const PAGE_CSS: &str = "\
:root{color-scheme:light dark;--card:#f6f8fa}\
@media screen and (prefers-color-scheme:dark){:root{--card:#1b2128}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
main{max-width:1184px;margin:0 auto;padding:40px 24px 64px}\
h1{font-size:30px;line-height:1.2;margin:0 0 6px;overflow-wrap:anywhere}\
.film{margin-top:24px}h2{font-size:20px;margin:48px 0 12px}h3{font-size:16px;margin:0 0 10px}\
p{margin:0 0 12px;max-width:75ch}.about{color:var(--quiet);margin:0}\
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(172px,1fr));gap:12px;\
margin:28px 0 20px;padding:0}\
.tile{background:var(--card);border-radius:10px;padding:16px 18px}\
.tile b{display:block;font-size:28px;line-height:1.25;font-weight:600;\
font-variant-numeric:tabular-nums}\
.tile span{display:block;font-size:14px;color:var(--quiet);line-height:1.4}\
.charts{columns:2 480px;column-gap:32px;margin-top:36px}.charts figure{padding-bottom:40px}\
figure{margin:0;break-inside:avoid}\
svg.chart{display:block;width:100%;height:auto;max-width:560px}\
figcaption{color:var(--quiet);font-size:14px;max-width:560px;margin-top:6px}\
img,video{display:block;max-width:100%;height:auto;border-radius:6px}\
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:15px}\
th,td{text-align:left;padding:8px 18px 8px 0;border-bottom:1px solid var(--hair);\
vertical-align:top}\
th{color:var(--quiet);font-weight:500;font-size:14px}td.number{font-variant-numeric:tabular-nums}\
td img{width:280px}tr{break-inside:avoid}\
.note{background:var(--card);border-left:3px solid var(--bad);padding:12px 16px;\
border-radius:0 8px 8px 0;margin:16px 0;font-size:15px}.note ul{margin:6px 0 0;padding-left:20px}\
footer{margin-top:56px;color:var(--quiet);font-size:14px}\
@media print{main{max-width:none;padding:0}body{font-size:12px}.tile{border:1px solid var(--hair)}\
.charts{columns:2 240px}.film{display:none}h2{break-after:avoid}\
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

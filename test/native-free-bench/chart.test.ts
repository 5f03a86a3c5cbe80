import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { drawChart } from '../../native-free-bench/chart/svg-chart.js';
import { linearTicks, logTicks, tickText } from '../../native-free-bench/chart/ticks.js';

test('ticks are few, round, evenly apart, and hold all that is drawn', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-3, max: 1e7, noNaN: true }), (highest) => {
      const ticks = linearTicks(highest);
      assert.ok(
        ticks[0] === 0 && ticks.at(-1)! >= highest * (1 - 1e-5) && ticks.length >= 2 && ticks.length <= 7,
      );
      assert.match(
        (ticks[1]! / 10 ** Math.floor(Math.log10(ticks[1]! * 1.000_001))).toFixed(6),
        /^(1|2|5)\.000000$/,
      );
      for (const tick of ticks) assert.ok(tickText(tick).length <= 9, tickText(tick));
    }),
  );
});

test('powers of ten hold all that is drawn', () => {
  const time = fc.double({ min: 0.01, max: 1e5, noNaN: true });
  fc.assert(
    fc.property(time, time, (one, other) => {
      const ticks = logTicks(Math.min(one, other), Math.max(one, other));
      assert.ok(ticks.length >= 2);
      assert.ok(ticks[0]! <= Math.min(one, other) * 1.001 && ticks.at(-1)! >= Math.max(one, other) * 0.999);
    }),
  );
});

test('whatever runs are called and measured, the drawing is XML, and every point lies within it', () => {
  const point = fc.record({
    x: fc.double({ min: 0, max: 1e5, noNaN: true }),
    y: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
  });
  const series = fc.record({
    name: fc.string({ unit: 'binary-ascii', maxLength: 20 }).map((name) => name.replace(/[^ -~]/g, '?')),
    points: fc.array(point, { minLength: 1, maxLength: 8 }),
    isDashed: fc.boolean(),
  });
  const panel = fc.record({
    ...{ title: fc.constant('CPU'), xTitle: fc.constant('cameras'), yTitle: fc.constant('ms') },
    isLog: fc.boolean(),
    series: fc.array(series, { minLength: 1, maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(panel, { minLength: 1, maxLength: 5 }), (panels) => {
      const svg = drawChart(panels);
      assert.equal(XMLValidator.validate(svg), true);
      const parsed = new XMLParser({ ignoreAttributes: false }).parse(svg) as { svg: { '@_width': string } };
      const width = Number(parsed.svg['@_width']);
      const circles = [...svg.matchAll(/<circle cx="([\d.-]+)" cy="([\d.-]+)"/g)];
      assert.equal(
        circles.length,
        panels.flatMap((each) => each.series.flatMap(({ points }) => points)).length,
      );
      for (const [, cx, cy] of circles) {
        assert.ok(Number(cx) >= 0 && Number(cx) <= width, `x ${cx}`);
        assert.ok(Number(cy) >= 30 && Number(cy) <= 260, `y ${cy}`);
      }
    }),
    { numRuns: 50 },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { ClusterRig } from './cluster-rig.js';

test('whoever watches a camera of another box goes on when that is killed: each box shows them all', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 9 });
  // Each hears of the others' once a second.
  for (const box of rig.boxes) await rig.untilAllRecorded(box);
  const [lost, ...others] = rig.boxes;
  const had = rig.ids.filter((id) => rig.writers(id)[0] === lost);
  assert.ok(had.length > 0);
  const viewers = others.flatMap(({ service: { url } }) =>
    had.map((id) => new WebSocketViewer(`${url.replace('http', 'ws')}/stream/ws/${id}`)),
  );
  t.after(() => {
    for (const { webSocket } of viewers) webSocket.terminate();
  });
  await Promise.all(viewers.map((viewer) => viewer.untilFrames(10)));
  lost!.service.process.kill('SIGKILL');
  const killedMs = performance.now();
  // What was on its way comes within a moment; only a new owner sends more.
  await until('others record all of them', () => had.every((id) => rig.writers(id, others).length > 0), {
    describe: () => rig.logs(),
  });
  const counts = viewers.map(({ frames }) => frames.length);
  await Promise.all(viewers.map((viewer, index) => viewer.untilFrames(counts[index]! + 10)));
  t.diagnostic(
    `${viewers.length} viewers had pictures again ${Math.round(performance.now() - killedMs)} ms after`,
  );
  for (const { closedWith, faults } of viewers) assert.deepEqual([closedWith, faults], [null, []]);
});

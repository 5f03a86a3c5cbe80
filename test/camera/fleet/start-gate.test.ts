import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StartGate, type Ticket } from '../../../src/camera/fleet/start-gate.js';
import { FakeClock } from '../../support/fake-clock.js';

const ask = (gate: StartGate, host: string, count: number): { entered: number[]; tickets: Ticket[] } => {
  const entered: number[] = [];
  const tickets = Array.from({ length: count }, (_, index) => gate.request(host, () => entered.push(index)));
  return { entered, tickets };
};

test('one host gets 8 handshakes at a time, in order', () => {
  const gate = new StartGate(new FakeClock());
  const { entered, tickets } = ask(gate, 'nvr', 12);
  assert.deepEqual(entered, [0, 1, 2, 3, 4, 5, 6, 7]);
  tickets[3]!.leave();
  assert.deepEqual(entered.slice(8), [8]);
  tickets[3]!.leave();
  assert.deepEqual(entered.slice(8), [8], 'leaving twice frees one place');
});

test('all hosts together get 64', () => {
  const gate = new StartGate(new FakeClock());
  const hosts = Array.from({ length: 100 }, (_, index) => ask(gate, `camera-${index}`, 1));
  assert.equal(hosts.filter(({ entered }) => entered.length === 1).length, 64);
  hosts[0]!.tickets[0]!.leave();
  assert.equal(hosts.filter(({ entered }) => entered.length === 1).length, 65);
});

test('a host at its limit holds up nobody behind it', () => {
  const gate = new StartGate(new FakeClock());
  ask(gate, 'nvr', 60);
  const other = ask(gate, 'camera', 1);
  assert.deepEqual(other.entered, [0]);
});

test('100 dead hosts delay the living ones by a second or so, not by their time-outs', () => {
  const clock = new FakeClock();
  const gate = new StartGate(clock);
  for (let host = 0; host < 100; host++) ask(gate, `dead-${host}`, 1);
  const living = ask(gate, 'living', 1);
  assert.deepEqual(living.entered, []);
  clock.advance(1_000);
  assert.deepEqual(living.entered, [0]);
});

test('whoever gives up while waiting is never called', () => {
  const gate = new StartGate(new FakeClock());
  const { entered, tickets } = ask(gate, 'nvr', 9);
  tickets[8]!.leave();
  tickets[0]!.leave();
  assert.equal(entered.length, 8);
});

test('any order of asking, leaving and waiting keeps both limits, and nobody waits while there is room', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('ask' as const), host: fc.nat(12) }),
    fc.record({ kind: fc.constant('leave' as const), index: fc.nat(200) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(700) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const clock = new FakeClock();
      const gate = new StartGate(clock);
      const requests: { host: string; ticket: Ticket; enteredAtMs: number | null; left: boolean }[] = [];
      for (const next of steps) {
        if (next.kind === 'wait') clock.advance(next.ms);
        else if (next.kind === 'leave') {
          const request = requests[next.index];
          if (request !== undefined) {
            request.left = true;
            request.ticket.leave();
          }
        } else {
          const request = {
            host: `host-${next.host}`,
            ticket: { leave: () => {} },
            enteredAtMs: null as number | null,
            left: false,
          };
          requests.push(request);
          request.ticket = gate.request(request.host, () => {
            request.enteredAtMs = clock.monotonicMs();
          });
        }
        const inside = requests.filter((request) => request.enteredAtMs !== null && !request.left);
        const fast = inside.filter((request) => clock.monotonicMs() - request.enteredAtMs! < 500);
        if (fast.length > 64) return false;
        for (const request of requests) {
          const insideOfHost = inside.filter((other) => other.host === request.host).length;
          if (insideOfHost > 8) return false;
          const isWaiting = request.enteredAtMs === null && !request.left;
          if (isWaiting && insideOfHost < 8 && fast.length < 64) return false;
        }
      }
      return true;
    }),
    { numRuns: 60 },
  );
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { systemClock } from '../../src/base/clock.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import { Asking } from '../../src/relay/ask/asking.js';
import { Relay, type RelayAnswers } from '../../src/relay/relay.js';
import { ASKING, clientTls, serverTls } from '../../src/relay/shared-key-tls.js';
import { HEAD_BYTES, MAX_ASKED_BYTES, messageType } from '../../src/relay/wire/format.js';
import { pieceHead, textMessage } from '../../src/relay/wire/write.js';
import { until } from '../support/until.js';
import { keyOf } from './boxes.js';

const KEY = keyOf('what all boxes of the test have');
const LIMITS = { withinMs: 20_000, inAllMs: 20_000, maxBytes: 4 << 20 };

const startRelay = async (t: TestContext, answers: RelayAnswers) => {
  const lines: string[] = [];
  const relay = await Relay.start(
    { box: 'owner', host: '127.0.0.1', port: 0, key: KEY },
    {
      ...{ clock: systemClock, answers, threads: { add: () => () => {} } },
      log: createLogger((level, message) => lines.push(`${level} ${message}`)),
      feeds: { follow: () => () => {} },
    },
  );
  t.after(() => relay.stop());
  return { to: { box: 'owner', host: '127.0.0.1', port: relay.port }, lines };
};

const startAsking = (t: TestContext, key = KEY): Asking => {
  const asking = new Asking({ box: 'asker', key }, { clock: systemClock });
  t.after(() => asking.close());
  return asking;
};

test('questions are answered with JSON and bytes, many at the same time and one after the other', async (t) => {
  const { to } = await startRelay(t, async (box, { bytes, text }) => ({
    content: { box, text },
    bytes: new Uint8Array(randomBytes(Number(bytes))).fill(Number(bytes) % 251),
  }));
  const asking = startAsking(t);
  for (let round = 0; round < 3; round += 1) {
    const sizes = [0, 1, 65_536, 65_537, 1_100_000, 3_000_000];
    const answers = await Promise.all(
      sizes.map((bytes) => asking.ask(to, { bytes, text: 'é'.repeat(round) }, LIMITS)),
    );
    for (const [index, { content, bytes }] of answers.entries()) {
      assert.deepEqual(content, { box: 'asker', text: 'é'.repeat(round) });
      assert.equal(bytes.length, sizes[index]);
      assert.ok(bytes.every((byte) => byte === sizes[index]! % 251));
    }
  }
});

test('what refuses says why by its code; what fails inside says nothing of that', async (t) => {
  const { to, lines } = await startRelay(t, async (_box, { isOurs }) => {
    throw isOurs === true ? new AppError('not_found', 'there is none') : new Error('a canary');
  });
  const asking = startAsking(t);
  await assert.rejects(asking.ask(to, { isOurs: true }, LIMITS), {
    code: 'not_found',
    message: 'there is none',
  });
  await assert.rejects(asking.ask(to, {}, LIMITS), (fault: AppError) => {
    assert.equal(fault.code, 'internal_error');
    assert.doesNotMatch(fault.message, /canary/);
    return true;
  });
  assert.ok(lines.includes('error a box could not be answered'));
});

test('a box answers what it is meant to answer alone, and who does not say whom he means', async (t) => {
  let asked = 0;
  const { to } = await startRelay(t, async () => {
    asked += 1;
    return { content: { is: 'owner' }, bytes: null };
  });
  // Two were given one address.
  await assert.rejects(startAsking(t).ask({ ...to, box: 'other' }, { what: 'delete' }, LIMITS), {
    code: 'relay_wrong_box',
    message: 'that is owner, and not other: each needs a BOX_ADDRESS of its own',
  });
  assert.equal(asked, 0);
  assert.deepEqual((await startAsking(t).ask(to, {}, LIMITS)).content, { is: 'owner' });
  const older = await openLink(to.port);
  older.write(textMessage('ask', { box: 'asker', question: {} }));
  await once(older, 'data');
  assert.equal(asked, 2);
  older.destroy();
});

test('an answer that is too large, or too late, is none; the next question has one', async (t) => {
  const { to } = await startRelay(t, async (_box, { isLate, bytes }) => {
    if (isLate === true) await new Promise(() => {});
    return { content: {}, bytes: new Uint8Array(Number(bytes)) };
  });
  const asking = startAsking(t);
  const small = { ...LIMITS, maxBytes: 10 };
  await assert.rejects(asking.ask(to, { bytes: 11 }, small), { code: 'relay_protocol' });
  await assert.rejects(asking.ask(to, { isLate: true }, { ...LIMITS, withinMs: 300 }), {
    code: 'relay_stalled',
  });
  assert.equal((await asking.ask(to, { bytes: 10 }, small)).bytes.length, 10);
});

test('whoever has another key, or none, is not answered', async (t) => {
  let asked = 0;
  const { to } = await startRelay(t, async () => {
    asked += 1;
    return { content: {}, bytes: null };
  });
  await assert.rejects(startAsking(t, keyOf('another one')).ask(to, {}, LIMITS), {
    code: 'relay_unreachable',
  });
  const plain = connectTcp(to.port, to.host);
  plain.write(textMessage('ask', { box: 'asker', question: {} }));
  plain.on('error', () => {});
  await once(plain, 'close');
  assert.equal(asked, 0);
});

/** A connection of our own making, with the key. */
const openLink = async (port: number): Promise<TLSSocket> => {
  const socket = connect({ ...clientTls(KEY), host: '127.0.0.1', port, ALPNProtocols: [ASKING] });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
};

test('whoever says what it has no reason to say is left, and nobody else', async (t) => {
  let asked = 0;
  const { to } = await startRelay(t, async () => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { content: {}, bytes: null };
  });
  const ask = textMessage('ask', { box: 'asker', question: {} });
  const tooLong = Buffer.alloc(HEAD_BYTES);
  tooLong.writeUInt32BE(MAX_ASKED_BYTES + 2);
  tooLong[4] = messageType.ask;
  const hostile = [
    Buffer.concat([ask, ask]),
    textMessage('hello', { versions: [1, 1], box: 'a', source: 'cam' }),
    textMessage('ask', { box: '../..', question: {} }),
    textMessage('ask', { box: 'a', question: [] }),
    textMessage('ask', 'nothing'),
    tooLong,
    Buffer.concat([pieceHead(1), Buffer.from('x')]),
    randomBytes(4_096).fill(0xff, 0, 4),
  ];
  for (const bytes of hostile) {
    const socket = await openLink(to.port);
    socket.write(bytes);
    await once(socket, 'close');
  }
  assert.ok(asked <= 1, 'the first of two may be asked for');
  await startAsking(t).ask(to, {}, LIMITS);
});

test("what waits for those who don't read is bounded; who is gone holds nothing", async (t) => {
  const { to } = await startRelay(t, async () => ({ content: {}, bytes: new Uint8Array(16 << 20) }));
  const limits = { ...LIMITS, maxBytes: 16 << 20 };
  const asking = startAsking(t);
  const stubborn: TLSSocket[] = [];
  await until('no more is taken', async () => {
    // One after the other: of many at once most are refused, and what the others don't read lies in their sockets soon.
    const socket = await openLink(to.port);
    stubborn.push(socket);
    socket.pause().write(textMessage('ask', { box: 'asker', question: {} }));
    const fault = await asking.ask(to, {}, limits).catch((thrown: AppError) => thrown);
    return fault instanceof AppError && fault.code === 'relay_busy';
  });
  for (const socket of stubborn) socket.destroy();
  await until('there is room again', () => asking.ask(to, {}, limits).catch(() => null));
});

/** A box that answers what it likes. */
const startImpostor = async (t: TestContext, answer: (socket: TLSSocket) => void, knowsAsking = true) => {
  const { ALPNProtocols, ...tls } = serverTls(KEY);
  const server = createServer({ ...tls, ...(knowsAsking && { ALPNProtocols }) }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { box: 'owner', host: '127.0.0.1', port: (server.address() as AddressInfo).port };
};

test('whatever a box answers, the question ends, and what it may send is bounded', async (t) => {
  const answer = (bytes: unknown) => textMessage('answer', { bytes, fault: null, content: {} });
  const piece = (bytes: number) => Buffer.concat([pieceHead(bytes), Buffer.alloc(bytes)]);
  const hostile = [
    answer(-1),
    answer(1e9),
    answer('many'),
    Buffer.concat([answer(10), piece(11)]),
    piece(10),
    Buffer.concat([answer(10), piece(5), answer(1)]),
    textMessage('answer', { bytes: 0, fault: 'no', content: {} }),
    textMessage('welcome', { version: 1, path: ['a'] }),
    randomBytes(100).fill(0xff, 0, 4),
  ];
  for (const bytes of hostile) {
    const to = await startImpostor(t, (socket) => socket.write(bytes));
    await assert.rejects(startAsking(t).ask(to, {}, LIMITS), { code: 'relay_protocol' });
  }
  const cut = await startImpostor(t, (socket) => socket.end(Buffer.concat([answer(10), piece(5)])));
  await assert.rejects(startAsking(t).ask(cut, {}, LIMITS), { code: 'relay_unreachable' });
});

test('a thin link gives an answer in its time, and says of one that comes too slowly that it is that', async (t) => {
  const PIECE_BYTES = 1_000;
  const piece = Buffer.concat([pieceHead(PIECE_BYTES), Buffer.alloc(PIECE_BYTES, 7)]);
  /** So many pieces, one each 500 ms. */
  const startSlow = (pieces: number, sent = pieces) =>
    startImpostor(t, (socket) => {
      socket.write(textMessage('answer', { bytes: pieces * PIECE_BYTES, fault: null, content: {} }));
      let left = sent;
      const timer = setInterval(() => {
        left -= 1;
        if (left >= 0) socket.write(piece);
      }, 500);
      socket.on('close', () => clearInterval(timer));
    });
  // Longer than a machine stands still; what comes whole takes longer.
  const limits = { withinMs: 6_000, inAllMs: 60_000, maxBytes: 1 << 20 };
  const asking = startAsking(t);
  const [whole, cut, endless] = await Promise.all([
    startSlow(16).then((to) => asking.ask(to, {}, limits)),
    startSlow(16, 1).then((to) => asking.ask(to, {}, limits).catch((fault) => fault)),
    startSlow(50).then((to) => asking.ask(to, {}, { ...limits, inAllMs: 8_000 }).catch((fault) => fault)),
  ]);
  assert.equal(whole.bytes.length, 16 * PIECE_BYTES);
  assert.ok(whole.bytes.every((byte) => byte === 7));
  assert.deepEqual([cut.code, endless.code], ['relay_slow', 'relay_slow']);
});

test('a box of an older version says so in the handshake', async (t) => {
  const to = await startImpostor(t, () => {}, false);
  await assert.rejects(startAsking(t).ask(to, {}, LIMITS), { code: 'relay_version' });
});

test('a connection that the other side has closed meanwhile is opened anew', async (t) => {
  let links = 0;
  const to = await startImpostor(t, (socket) => {
    links += 1;
    socket.end(textMessage('answer', { bytes: 0, fault: null, content: { links } }));
  });
  const asking = startAsking(t);
  for (let round = 1; round <= 3; round += 1) {
    const { content } = await asking.ask(to, {}, LIMITS);
    assert.deepEqual(content, { links: round });
  }
  await until('the last one is closed', () => links === 3);
});

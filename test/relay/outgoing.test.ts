import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createLogger } from '../../src/base/log.js';
import { Outgoing, type SentFeed } from '../../src/relay/send/outgoing.js';
import { Rest } from '../../src/relay/send/rest.js';
import { Staging } from '../../src/relay/send/staging.js';
import { WireReader } from '../../src/relay/wire/reader.js';
import { textMessage } from '../../src/relay/wire/write.js';
import type { Bells } from '../../src/ring/bells.js';
import { FakeClock } from '../support/fake-clock.js';
import { KEY, makeRing, stampOf, streamInfo } from '../support/ring.js';

/** A link that takes what is written, as TLS encrypts it, and has room for more when the test says so. */
class SlowLink extends Duplex {
  readonly taken: Buffer[] = [];
  readonly #waiting: (() => void)[] = [];

  setNoDelay(): void {}

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.taken.push(Buffer.from(chunk));
    this.#waiting.push(callback);
  }

  async drain(steps = 8): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#waiting.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test('a link whose welcome waits gets no frame of another camera, as all have one buffer', async () => {
  const clock = new FakeClock();
  const bells = { listen: () => () => {} } as unknown as Bells;
  const deps = {
    ...{ clock, bells, log: createLogger(() => {}), box: 'owner', staging: new Staging() },
    ...{ rest: new Rest(clock), onWish: () => {}, onEnded: () => {} },
  };
  const feedOf = (byte: number): SentFeed => {
    const { writer } = makeRing();
    writer.setStreamInfo(streamInfo(1));
    const nal = Buffer.alloc(3_000, byte);
    nal[0] = 0x65;
    writer.beginNal();
    writer.append(nal, 0, nal.length);
    writer.endNal();
    writer.commitVideo(stampOf({ flags: KEY, arrivalMs: clock.monotonicMs() }));
    return { ring: writer.ring, bell: new SharedArrayBuffer(16), path: [] };
  };
  const open = async () => {
    const link = new SlowLink();
    const outgoing = new Outgoing(link as unknown as TLSSocket, deps);
    link.push(textMessage('hello', { versions: [1, 1], box: 'asker', source: 'cam' }));
    await new Promise((resolve) => setImmediate(resolve));
    return { link, outgoing };
  };
  const one = await open();
  const other = await open();
  clock.advance(1_500);
  // Nobody knows yet by which boxes its frames come: all that it hears is that the owner lives.
  one.outgoing.tick(clock.monotonicMs());
  one.outgoing.onFeed(feedOf(0x11));
  await one.link.drain(1);
  other.outgoing.onFeed(feedOf(0x22));
  await other.link.drain();
  await one.link.drain();
  const bytes = new Set<number>();
  const reader = new WireReader('sender', {
    onText: () => {},
    onSeen: () => {},
    onFrame: () => {},
    onBytes: (chunk, start, end) => void (end > start && bytes.add(chunk[end - 1]!)),
    onFrameEnd: () => {},
  });
  for (const chunk of one.link.taken) reader.feed(chunk, 0, chunk.length);
  assert.deepEqual([...bytes], [0x11]);
});

import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';
import {
  bindingRequest,
  bindingSuccess,
  type ClientOptions,
  isBindingRequest,
  WhepClient,
} from '../../support/whep-client.js';
import { type TestCamera, WhepHarness } from './harness.js';

/** Another address of a viewer's, or what claims to be one. */
class Elsewhere implements Disposable {
  readonly heard: Buffer[] = [];
  readonly #socket: Socket;
  readonly #client: WhepClient;

  private constructor(socket: Socket, client: WhepClient, answers: boolean) {
    this.#socket = socket;
    this.#client = client;
    socket.on('message', (message) => {
      this.heard.push(message);
      if (answers && isBindingRequest(message)) this.#send(bindingSuccess(message, client.pwd));
    });
  }

  static async open(client: WhepClient, { answers }: { answers: boolean }): Promise<Elsewhere> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new Elsewhere(socket, client, answers);
  }

  get media(): number {
    return this.heard.filter((message) => message[0] === 0x80).length;
  }

  /** Resolves when it has been answered. */
  async check(isNominating: boolean): Promise<void> {
    const { ufrag, pwd } = this.#client.answer;
    const request = bindingRequest(`${ufrag}:${this.#client.ufrag}`, pwd, isNominating);
    this.#send(request);
    const id = request.subarray(8, 20);
    await until('the check is answered', () =>
      this.heard.some((message) => message[0] === 1 && message.subarray(8, 20).equals(id)),
    );
  }

  send(datagram: Buffer): void {
    this.#send(datagram);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #send(datagram: Buffer): void {
    const { port, address } = this.#client.answer;
    this.#socket.send(datagram, port, address);
  }
}

const setUp = async (t: TestContext, options: ClientOptions = {}) => {
  const clock = new FakeClock();
  const whep = await WhepHarness.start(clock);
  t.after(() => whep[Symbol.dispose]());
  const camera = whep.addCamera();
  camera.writeGop(3);
  const { id, client } = await whep.watch(options);
  await until('the first picture is there', () => client.packets >= 3);
  return { clock, whep, camera, id, client };
};

/** Writes a frame, and waits until somebody has it. */
const sendFrame = async (clock: FakeClock, camera: TestCamera, received: () => number): Promise<void> => {
  const before = received();
  camera.write(false);
  await until('the frame is there', () => {
    clock.advance(2);
    return received() > before;
  });
};

test('a viewer that nominates once and stands still for 8 s goes on where it was', async (t) => {
  const { clock, whep, camera, id, client } = await setUp(t, { nominatesOnce: true });
  client.fallSilent();
  clock.advance(8_000);
  client.check(false);
  await sendFrame(clock, camera, () => client.packets);
  clock.advance(8_000);
  client.check(false);
  await sendFrame(clock, camera, () => client.packets);
  assert.equal(whep.endOf(id), null);
});

test('media follows a viewer to the address that it nominates, at once', async (t) => {
  const { clock, camera, client } = await setUp(t);
  client.fallSilent();
  using moved = await Elsewhere.open(client, { answers: true });
  await moved.check(true);
  await until('the address has proven itself', () => moved.heard.some(isBindingRequest));
  await until('media follows', () => {
    clock.advance(2);
    camera.write(false);
    return moved.media > 0;
  });
  const before = client.packets;
  await sendFrame(clock, camera, () => moved.media);
  assert.equal(client.packets, before);
});

test('who never nominates again is followed once nothing comes from where it was', async (t) => {
  const { clock, camera, client } = await setUp(t, { nominatesOnce: true });
  client.fallSilent();
  using moved = await Elsewhere.open(client, { answers: true });
  await moved.check(false);
  await sendFrame(clock, camera, () => client.packets);
  assert.equal(moved.media, 0);
  clock.advance(7_000);
  await moved.check(false);
  await until('media follows', () => {
    clock.advance(2);
    camera.write(false);
    return moved.media > 0;
  });
});

test('an address that only knows the password gets no media, and little else', async (t) => {
  const { clock, whep, camera, id, client } = await setUp(t);
  using victim = await Elsewhere.open(client, { answers: false });
  let sentBytes = 0;
  for (let i = 0; i < 10; i += 1) {
    await victim.check(true);
    sentBytes += 120;
    await sendFrame(clock, camera, () => client.packets);
  }
  // An answer to another question, and one that somebody else has signed.
  const question = victim.heard.find(isBindingRequest)!;
  const other = Buffer.from(question);
  other[19] = other[19]! ^ 1;
  victim.send(bindingSuccess(other, client.pwd));
  victim.send(bindingSuccess(question, 'not the password of the viewer'));
  await victim.check(true);
  await sendFrame(clock, camera, () => client.packets);
  assert.equal(victim.media, 0);
  const heardBytes = victim.heard.reduce((sum, { length }) => sum + length, 0);
  assert.ok(heardBytes < 2.5 * sentBytes, `${heardBytes} bytes for ${sentBytes}`);
  // What only it says is no consent of the viewer's.
  client.fallSilent();
  for (let second = 0; second < 17; second += 1) {
    clock.advance(1_000);
    if (second % 5 === 0 && second < 15) await victim.check(false);
  }
  assert.equal(whep.endOf(id), 'the viewer went silent');
});

test('a proof is worth nothing later on', async (t) => {
  const { clock, camera, client } = await setUp(t);
  using victim = await Elsewhere.open(client, { answers: false });
  await victim.check(true);
  const question = victim.heard.find(isBindingRequest)!;
  clock.advance(7_000);
  client.check();
  victim.send(bindingSuccess(question, client.pwd));
  await victim.check(false);
  await sendFrame(clock, camera, () => client.packets);
  assert.equal(victim.media, 0);
});

test('a handshake that begins at one address is not finished from another', async (t) => {
  const clock = new FakeClock();
  const whep = await WhepHarness.start(clock);
  t.after(() => whep[Symbol.dispose]());
  const camera = whep.addCamera();
  camera.writeGop(3);
  const client = await WhepClient.create();
  whep.clients.push(client);
  const { id, answer } = await whep.offer(client.offer);
  client.start(answer!);
  client.fallSilent();
  using victim = await Elsewhere.open(client, { answers: false });
  await victim.check(true);
  let diverted = 0;
  // Behind both ClientHellos: the certificate, the proof, and the end.
  client.onHandshake = (datagram, index) => {
    if (index < 2) return false;
    victim.send(datagram);
    diverted += 1;
    return true;
  };
  await until('the handshake is nearly done', () => diverted >= 2, { deadlineMs: 60_000 });
  await victim.check(true);
  for (let i = 0; i < 20; i += 1) {
    camera.write(false);
    clock.advance(1_000);
  }
  assert.deepEqual([whep.endOf(id), client.isConnected], ['no connection was made', false]);
  assert.ok(
    victim.heard.every((message) => message[0]! < 4),
    'nothing but checks and answers went there',
  );
});

test('a viewer with more addresses than are listened to keeps the one that media goes to', async (t) => {
  const { clock, whep, camera, id, client } = await setUp(t);
  client.fallSilent();
  for (let i = 0; i < 20; i += 1) {
    using one = await Elsewhere.open(client, { answers: false });
    await one.check(false);
  }
  await sendFrame(clock, camera, () => client.packets);
  assert.equal(whep.endOf(id), null);
});

import { until } from '../../support/until.js';
import { WhepClient } from '../../support/whep-client.js';
import type { Visitor } from './visitor.js';
import { DOOR, GATE, oneOf, pause, ROOF, ticketFor, type Viewing, type Wall } from './wall.js';

const contentType = 'application/sdp';

type Offered = { readonly client: WhepClient; readonly answer: string; readonly session: string };

const offer = async (wall: Wall, visitor: Visitor): Promise<Offered> => {
  const cameraId = oneOf(wall, DOOR, GATE);
  const path = `/stream/webrtc/whep/${cameraId}${await ticketFor(wall, visitor, cameraId)}`;
  const client = await WhepClient.create({ countOnly: true });
  const page = await visitor.ask(path, { method: 'POST', body: client.offer, contentType });
  if (page.status === 201) return { client, answer: page.bytes.toString(), session: page.location };
  client.close();
  throw new Error(`an offer: ${page.status} ${page.bytes}`);
};

/** Who isn't connected 15 s after the offer is given up by the service. */
const CONNECT_MS = 14_000;

/** Tries again once, as players do: where the machine is busy handshakes lose packets, and repeat them 1, 2, 4 and 8 s later. */
const connect = async (wall: Wall, visitor: Visitor, isLast = false): Promise<Offered> => {
  const offered = await offer(wall, visitor);
  offered.client.start(offered.answer);
  try {
    await until('packets come', () => offered.client.packets > 10, { deadlineMs: CONNECT_MS });
  } catch (thrown) {
    offered.client.close();
    if (isLast) throw thrown;
    return connect(wall, visitor, true);
  }
  return offered;
};

/** Watches for a moment and says goodbye. */
const watch: Viewing = async (wall, visitor) => {
  const { client, session } = await connect(wall, visitor);
  await visitor.fetch(session, { method: 'DELETE' });
  client.close();
};

/** Watches, and is gone from one moment to the next: found by its silence. */
const vanish: Viewing = async (wall, visitor) => {
  const { client } = await connect(wall, visitor);
  client.close();
};

/** Takes the answer and does nothing with it. */
const ignoreAnswer: Viewing = async (wall, visitor) => {
  const { client, session } = await offer(wall, visitor);
  client.close();
  if (wall.random() < 0.7) await visitor.fetch(session, { method: 'DELETE' });
};

/** Is gone in the middle of the handshake. */
const breakHandshake: Viewing = async (wall, visitor) => {
  const { client, answer, session } = await offer(wall, visitor);
  client.start(answer);
  await pause(30 * wall.random());
  client.close();
  if (wall.random() < 0.7) await visitor.fetch(session, { method: 'DELETE' });
};

/** Hangs up before the answer has come. */
const abandonOffer: Viewing = async (wall, visitor) => {
  const client = await WhepClient.create({ countOnly: true });
  client.close();
  const options = { method: 'POST', body: client.offer, contentType };
  await visitor.abandon(`/stream/webrtc/whep/${DOOR}`, oneOf(wall, 0, 3), options);
};

/** Is told that it may not, can not, or makes no sense. */
const beRefused: Viewing = async (wall, visitor) => {
  const client = await WhepClient.create({ countOnly: true });
  client.close();
  const [cameraId, body, wanted] = oneOf(
    wall,
    [GATE, client.offer, 401] as const,
    [ROOF, client.offer, 406] as const,
    [DOOR, 'v=0\r\n', 400] as const,
  );
  const path = `/stream/webrtc/whep/${cameraId}`;
  const { status, bytes } = await visitor.ask(path, { method: 'POST', body, contentType });
  if (status !== wanted) throw new Error(`${cameraId}: ${status} ${bytes}`);
};

export const whepViewings = {
  watch,
  vanish,
  ignoreAnswer,
  breakHandshake,
  abandonOffer,
  beRefused,
} as const;

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { WebSocketViewer } from '../../support/websocket-viewer.js';
import type { Visitor } from './visitor.js';
import { DOOR, GATE, oneOf, pause, ROOF, ticketFor, type Viewing, type Wall, YARD } from './wall.js';

const FRAMES = 5;

const open = async (wall: Wall, visitor: Visitor): Promise<WebSocketViewer> => {
  const cameraId = oneOf(wall, DOOR, GATE, YARD, ROOF);
  const query = await ticketFor(wall, visitor, cameraId);
  const viewer = new WebSocketViewer(`${wall.url.replace(/^http/, 'ws')}/stream/ws/${cameraId}${query}`);
  await viewer.untilFrames(FRAMES);
  if (viewer.faults.length > 0) throw new Error(viewer.faults.join());
  return viewer;
};

/** A handshake; `part` of it, if the client is cut off while it speaks. */
const handshake = (path: string, part = 1): string => {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: wall',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  ];
  const text = `${lines.join('\r\n')}\r\n\r\n`;
  return text.slice(0, Math.ceil(text.length * part));
};

const untilBytes = (socket: Socket, lengthBytes: number): Promise<void> =>
  new Promise((resolve) => {
    let seenBytes = 0;
    socket.on('data', ({ length }) => {
      seenBytes += length;
      if (seenBytes >= lengthBytes) resolve();
    });
    socket.once('close', () => resolve());
  });

/** Watches for a moment and says goodbye. */
const watch: Viewing = async (wall, visitor) => {
  const viewer = await open(wall, visitor);
  viewer.webSocket.close(1000);
  await viewer.untilClosed();
};

/** Reads nothing any more, then goes without a word. */
const stall: Viewing = async (wall, visitor) => {
  const viewer = await open(wall, visitor);
  viewer.webSocket.pause();
  await pause(500 + 3_000 * wall.random());
  viewer.webSocket.terminate();
  await viewer.untilClosed();
};

/** Is reset in the middle of a frame. */
const reset: Viewing = async (wall, visitor) => {
  const socket = await visitor.open(handshake(`/stream/ws/${oneOf(wall, DOOR, YARD)}`));
  await untilBytes(socket, 400 + 4_000 * wall.random());
  socket.resetAndDestroy();
};

/** Is gone before its handshake is answered, or before it is whole. */
const abandonHandshake: Viewing = async (wall, visitor) => {
  const part = oneOf(wall, 0.3, 0.9, 1);
  const socket = await visitor.open(handshake(`/stream/ws/${oneOf(wall, DOOR, GATE)}`, part));
  if (wall.random() < 0.5) await pause(20);
  socket.resetAndDestroy();
};

/** Stays when told that it must show a token, and for cameras that there are none of. */
const beRefused: Viewing = async (wall, visitor) => {
  const socket = await visitor.open(handshake(`/stream/ws/${oneOf(wall, GATE, 'nowhere')}`));
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  await new Promise((resolve) => socket.once('close', resolve));
  if (!/^HTTP\/1.1 40[14] /.test(answer)) throw new Error(`not refused: ${answer.slice(0, 100)}`);
};

export const webSocketViewings = { watch, stall, reset, abandonHandshake, beRefused } as const;

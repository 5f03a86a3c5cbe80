import { options } from './common.js';

const CONFIG = 0x11;
const FRAME = 0x12;
const TAKEN = 0x21;
const ACKNOWLEDGE_EVERY_MS = 250;
const stats = { decoded: {}, acknowledged: 0, acknowledgedAtLoss: 0, closeCode: null, faults: [] };
const MOST_FAULTS = 20;
const fault = (text) => stats.faults.length < MOST_FAULTS && stats.faults.push(text);
const decoders = new Map();

const decoderOf = (stream) => {
  const decoder = new VideoDecoder({
    output: (frame) => {
      stats.decoded[stream] = (stats.decoded[stream] ?? 0) + 1;
      frame.close();
    },
    error: (error) => fault(`decoder of ${stream}: ${error.message}`),
  });
  const known = { decoder, sets: new Uint8Array(), lastIndex: null };
  decoders.set(stream, known);
  return known;
};

const configure = (view, bytes) => {
  const stream = view.getUint32(4);
  const codecBytes = view.getUint16(2);
  const known = decoders.get(stream) ?? decoderOf(stream);
  const codec = new TextDecoder().decode(bytes.subarray(16, 16 + codecBytes));
  known.sets = bytes.slice(16 + codecBytes);
  known.decoder.configure({ codec, optimizeForLatency: true });
};

const decode = (view, bytes) => {
  const stream = view.getUint32(4);
  const known = decoders.get(stream);
  if (known === undefined) return fault(`a frame of ${stream} before its description`);
  const isKey = (bytes[1] & 1) !== 0;
  const index = view.getUint32(8);
  if (!isKey && index !== known.lastIndex + 1)
    return fault(`frame ${index} of ${stream} after ${known.lastIndex}`);
  known.lastIndex = index;
  const data = new Uint8Array((isKey ? known.sets.length : 0) + bytes.length - 32);
  if (isKey) data.set(known.sets);
  data.set(bytes.subarray(32), isKey ? known.sets.length : 0);
  const timestamp = Number(view.getBigUint64(16)) + view.getInt32(12);
  known.decoder.decode(new EncodedVideoChunk({ type: isKey ? 'key' : 'delta', timestamp, data }));
};

let messages = 0;
let takenBytes = 0;

const receive = (message) => {
  if (typeof message === 'string') {
    if (JSON.parse(message).op === 'lost') stats.acknowledgedAtLoss = stats.acknowledged;
    return;
  }
  messages += 1;
  takenBytes += message.byteLength;
  const [view, bytes] = [new DataView(message), new Uint8Array(message)];
  if (bytes[0] === CONFIG) configure(view, bytes);
  else if (bytes[0] === FRAME) decode(view, bytes);
  else fault(`a message of type ${bytes[0]}`);
};

const socket = new WebSocket(options.url);
socket.binaryType = 'arraybuffer';
socket.addEventListener('open', () => {
  const tiles = options.cameras.map((camera, tile) => ({ tile, camera, stream: 'main', mode: 'all' }));
  socket.send(JSON.stringify({ op: 'tiles', rev: 1, tiles }));
});
socket.addEventListener('message', ({ data }) => {
  try {
    receive(data);
  } catch (error) {
    fault(String(error));
  }
});
const acknowledging = setInterval(() => {
  if (socket.readyState !== WebSocket.OPEN) return;
  const taken = new DataView(new ArrayBuffer(12));
  taken.setUint8(0, TAKEN);
  taken.setUint32(4, messages);
  taken.setUint32(8, takenBytes);
  socket.send(taken);
  stats.acknowledged += 1;
}, ACKNOWLEDGE_EVERY_MS);
socket.addEventListener('close', ({ code }) => {
  clearInterval(acknowledging);
  stats.closeCode = code;
});

window.player = { stats: () => stats, close: () => socket.close() };

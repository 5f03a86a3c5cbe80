import { codecOf, isKeyUnit } from './annex-b.js';
import { options } from './common.js';

const canvas = document.createElement('canvas');
document.body.append(canvas);
const context = canvas.getContext('2d');
const startMs = performance.now();
const stats = {
  isOpen: false,
  closeCode: null,
  codec: null,
  configs: 0,
  frames: 0,
  keyFrames: 0,
  framesDecoded: 0,
  width: 0,
  height: 0,
  lastTimestampUs: -1,
  firstPictureMs: null,
  faults: [],
};
const MOST_FAULTS = 20;
const fault = (text) => stats.faults.length < MOST_FAULTS && stats.faults.push(text);

let parameterSets = new Uint8Array();
let needsKey = true;

const draw = (frame) => {
  stats.framesDecoded += 1;
  stats.firstPictureMs ??= performance.now() - startMs;
  stats.width = frame.displayWidth;
  stats.height = frame.displayHeight;
  if (canvas.width !== frame.displayWidth) canvas.width = frame.displayWidth;
  if (canvas.height !== frame.displayHeight) canvas.height = frame.displayHeight;
  context.drawImage(frame, 0, 0);
  frame.close();
};

const decoder = new VideoDecoder({ output: draw, error: (error) => fault(`decoder: ${error.message}`) });

const configure = (bytes) => {
  stats.configs += 1;
  parameterSets = bytes;
  stats.codec = codecOf(bytes);
  if (stats.codec === null) return fault('a configuration without parameter sets');
  decoder.configure({ codec: stats.codec, optimizeForLatency: true });
  needsKey = true;
};

const decode = (bytes, timestampUs) => {
  if (stats.codec === null) return fault('a frame before the first configuration');
  if (timestampUs <= stats.lastTimestampUs) fault(`timestamp ${timestampUs} after ${stats.lastTimestampUs}`);
  stats.lastTimestampUs = timestampUs;
  stats.frames += 1;
  if (bytes[0] !== 0 || bytes[1] !== 0 || bytes[2] !== 0 || bytes[3] !== 1)
    fault('a frame without a start code');
  const isKey = isKeyUnit(bytes, stats.codec.startsWith('avc1'));
  if (isKey) stats.keyFrames += 1;
  if (needsKey && !isKey) return fault('a delta frame where a keyframe has to be');
  needsKey = false;
  if (decoder.state !== 'configured') return;
  const data = new Uint8Array(isKey ? parameterSets.length + bytes.length : bytes.length);
  if (isKey) data.set(parameterSets);
  data.set(bytes, data.length - bytes.length);
  decoder.decode(new EncodedVideoChunk({ type: isKey ? 'key' : 'delta', timestamp: timestampUs, data }));
};

const receive = (message) => {
  if (!(message instanceof ArrayBuffer)) return fault('a message that is text');
  const bytes = new Uint8Array(message);
  if (bytes[0] === 1) configure(bytes.slice(1));
  else if (bytes[0] === 2 && bytes.length > 9) {
    decode(bytes.subarray(9), Number(new DataView(message).getBigUint64(1)));
  } else fault(`a message of type ${bytes[0]} with ${bytes.length} bytes`);
};

const socket = new WebSocket(options.url);
socket.binaryType = 'arraybuffer';
socket.addEventListener('open', () => {
  stats.isOpen = true;
});
socket.addEventListener('message', ({ data }) => {
  try {
    receive(data);
  } catch (error) {
    fault(String(error));
  }
});
socket.addEventListener('close', ({ code }) => {
  stats.isOpen = false;
  stats.closeCode = code;
});

window.player = { stats: () => stats, close: () => socket.close() };

import { workerScope } from '../socket/worker-scope.js';
import type { FromDecodeWorker, ToDecodeWorker } from './decode-messages.js';
import { DecodeTiles } from './decode-tiles.js';

const scope = workerScope<ToDecodeWorker, FromDecodeWorker>();
const tiles = new DecodeTiles((message, transfer = []) => scope.postMessage(message, transfer));

scope.onmessage = ({ data }) => tiles.take(data);

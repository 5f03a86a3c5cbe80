import type { FromSocketWorker, ToSocketWorker } from './socket-messages.js';
import { WallSocket } from './wall-socket.js';
import { workerScope } from './worker-scope.js';

const scope = workerScope<ToSocketWorker, FromSocketWorker>();
const socket = new WallSocket((message, transfer = []) => scope.postMessage(message, transfer));

scope.onmessage = ({ data }) => socket.take(data);

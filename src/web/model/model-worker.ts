import { workerScope } from '../socket/worker-scope.js';
import { BrowserModel, ModelError } from './browser-model.js';
import type { FromModelWorker, ToModelWorker } from './model-messages.js';

/** Models run here: a thread of its own that ends with all that it holds. */
const scope = workerScope<ToModelWorker, FromModelWorker>();
let model: BrowserModel | null = null;

const answer = async (message: ToModelWorker): Promise<FromModelWorker> => {
  if (message.op === 'load') {
    model = await BrowserModel.load(message.model, (runtimeBytes, modelBytes) =>
      scope.postMessage({ op: 'loading', runtimeBytes, modelBytes }),
    );
    return { op: 'ready' };
  }
  const startMs = performance.now();
  const objects = (await model?.look(message.picture)) ?? [];
  return { op: 'seen', objects, tookMs: performance.now() - startMs };
};

const faultOf = (thrown: unknown): FromModelWorker => {
  const { fault, message } = thrown instanceof ModelError ? thrown : new ModelError('model', thrown);
  return { op: 'fault', fault, detail: message };
};

scope.onmessage = ({ data }) => {
  void answer(data)
    .catch(faultOf)
    .then((message) => scope.postMessage(message));
};

/** What a worker is to itself: the page's types know only windows. */
export type WorkerScope<In, Out> = {
  postMessage(message: Out, transfer?: readonly Transferable[]): void;
  onmessage: ((event: MessageEvent<In>) => void) | null;
};

export const workerScope = <In, Out>(): WorkerScope<In, Out> => self as unknown as WorkerScope<In, Out>;

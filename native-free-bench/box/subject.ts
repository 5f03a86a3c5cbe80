import type { ViewerKind, ViewerTarget } from '../viewers/messages.js';
import type { MetricsText } from './metrics-text.js';

/** The server that is measured: the service, or another product. */
export interface Subject {
  readonly pid: number;
  /** What the service says of itself; null: another product. */
  metrics(): Promise<MetricsText | null>;
  /** So many viewers, spread over the cameras; a wall's viewers are its tiles. */
  targets(kind: ViewerKind, count: number): Promise<readonly ViewerTarget[]>;
  /** The address that is asked for the list of cameras, and with which headers; null: there is none. */
  readonly list: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null;
  stop(): Promise<void>;
}

import { execFileSync } from 'node:child_process';

/** What a viewer's network is like; 0: no limit, no loss, no delay. */
export type Link = {
  readonly rateMbit: number;
  /** What waits at the bottleneck until it is dropped, in time. */
  readonly queueMs: number;
  /** Of the packets towards the viewer. */
  readonly lossPercent: number;
  /** There and back. */
  readonly delayMs: number;
};

const NAMESPACE = 'framering-lab';
const DEVICE = 'framering-lab0';
export const SERVICE_ADDRESS = '10.99.7.1';
const VIEWER_ADDRESS = '10.99.7.2';
/** A packet or two more than a timer's tick at 20 Mbit/s. */
const BURST_BYTES = 16_384;

const run = (command: string, input = ''): string =>
  execFileSync('/bin/sh', ['-c', command], { input, encoding: 'utf8' });

/** A network namespace for the viewer, tied to this one by a pair of devices; rate and loss on the way to it. */
export class Network implements Disposable {
  constructor({ rateMbit, queueMs, lossPercent }: Link) {
    this[Symbol.dispose]();
    run(`ip netns add ${NAMESPACE}
      ip link add ${DEVICE} type veth peer name eth0 netns ${NAMESPACE}
      ip addr add ${SERVICE_ADDRESS}/24 dev ${DEVICE}
      ip link set ${DEVICE} up
      ip -n ${NAMESPACE} addr add ${VIEWER_ADDRESS}/24 dev eth0
      ip -n ${NAMESPACE} link set eth0 up
      ip -n ${NAMESPACE} link set lo up`);
    this.limit(rateMbit, queueMs);
    if (lossPercent > 0) {
      run(
        `ip netns exec ${NAMESPACE} nft -f -`,
        `table inet lab {
          chain towards-viewer {
            type filter hook input priority 0
            meta l4proto udp numgen random mod 100 < ${lossPercent} drop
          }
        }\n`,
      );
    }
  }

  /** Changes the rate in mid-flight. */
  limit(rateMbit: number, queueMs: number): void {
    run(`tc qdisc del dev ${DEVICE} root 2>/dev/null || true`);
    if (rateMbit === 0) return;
    const limitBytes = BURST_BYTES + Math.round((rateMbit * 1e3 * queueMs) / 8);
    run(`tc qdisc add dev ${DEVICE} root tbf rate ${rateMbit}mbit burst ${BURST_BYTES} limit ${limitBytes}`);
  }

  /** Put before a command, it runs in the viewer's namespace. */
  get prefix(): string {
    return `ip netns exec ${NAMESPACE}`;
  }

  [Symbol.dispose](): void {
    run(`ip netns del ${NAMESPACE} 2>/dev/null; ip link del ${DEVICE} 2>/dev/null; true`);
  }
}

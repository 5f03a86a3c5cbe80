import { type ChildProcess, execFileSync, spawn } from 'node:child_process';

/** `desk`: where the boxes are asked from here; `cluster`: where they and their servers talk; `cameras`. */
export type NetworkName = 'desk' | 'cluster' | 'cameras';

/** Seen from the box: what it says, what it hears, or both are lost on the way. */
export type Direction = 'both' | 'out' | 'in';

const NETWORKS: readonly NetworkName[] = ['desk', 'cluster', 'cameras'];
const PREFIX = 'framering-faults';
const CAMERAS_HOST = 100;

const run = (...command: string[]): string => {
  const [program = '', ...args] = command;
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
};

const addressIn = (network: NetworkName, host: number): string =>
  `10.213.${1 + NETWORKS.indexOf(network)}.${host}`;

const DEVICES = 'frf-';
const bridgeOf = (network: NetworkName): string => `${DEVICES}${network}`;
/** The end that is at the bridge. */
const deviceOf = (network: NetworkName, host: number): string => `${DEVICES}${network.slice(0, 2)}${host}`;

/** What takes all of it away, whoever is in there; also what a run left that crashed. */
const removal = (namespaces: readonly string[]): string =>
  [
    ...namespaces.flatMap((name) => [
      `for pid in $(ip netns pids ${name} 2>/dev/null); do kill -9 $pid; done`,
      `ip netns del ${name} 2>/dev/null`,
    ]),
    // A namespace is gone only when all who were in there are: the devices of it go before.
    `for device in $(ls /sys/class/net | grep '^${DEVICES}'); do ip link del $device 2>/dev/null; done`,
    'true',
  ].join('\n');

/** Why there can be no networks here; false: there can. */
export const withoutNetworks = (): string | false => {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  try {
    run('ip', 'netns', 'add', `${PREFIX}-trial`);
    run('ip', 'netns', 'del', `${PREFIX}-trial`);
    run('tc', '-V');
    return false;
  } catch {
    return 'network namespaces need iproute2, and a kernel that allows them';
  }
};

/**
 * Each box in a namespace of its own with the server beside it, and the cameras in another one, tied by three bridges. A shell
 * waits for the end of this process, however that ends, and takes all of it away.
 */
export class Network {
  readonly #namespaces: readonly string[];
  readonly #guard: ChildProcess;

  constructor(boxes: number) {
    this.#namespaces = [
      ...Array.from({ length: boxes }, (_, box) => `${PREFIX}-box-${box}`),
      `${PREFIX}-cameras`,
    ];
    const [first = ''] = this.#namespaces;
    if (run('ip', 'netns', 'list').includes(first) && run('ip', 'netns', 'pids', first).trim() !== '')
      throw new Error(`another run has the namespace ${first}`);
    run('sh', '-c', removal(this.#namespaces));
    this.#guard = spawn('sh', ['-c', `read -r _\n${removal(this.#namespaces)}`], {
      ...{ stdio: ['pipe', 'ignore', 'ignore'], detached: true },
    });
    for (const network of NETWORKS) {
      run('ip', 'link', 'add', bridgeOf(network), 'type', 'bridge');
      run('ip', 'addr', 'add', `${addressIn(network, 254)}/24`, 'dev', bridgeOf(network));
      run('ip', 'link', 'set', bridgeOf(network), 'up');
    }
    for (const [index, namespace] of this.#namespaces.entries()) {
      run('ip', 'netns', 'add', namespace);
      run('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
      if (index < boxes) for (const network of NETWORKS) this.#tie(namespace, network, 1 + index);
      else this.#tie(namespace, 'cameras', CAMERAS_HOST);
    }
  }

  /** Of this process: boxes reach it there. */
  get ownAddress(): string {
    return addressIn('desk', 254);
  }

  get camerasAddress(): string {
    return addressIn('cameras', CAMERAS_HOST);
  }

  addressOf(box: number, network: NetworkName): string {
    return addressIn(network, 1 + box);
  }

  /** Words that run a command beside this box. */
  besideBox(box: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.#namespaces[box]!];
  }

  get besideCameras(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#namespaces.at(-1)!];
  }

  /** All that goes that way is lost without a word. */
  cut(box: number, networks: readonly NetworkName[], direction: Direction): void {
    for (const network of networks) {
      // A queue with room for nothing.
      const nothing = ['root', 'pfifo', 'limit', '0'];
      if (direction !== 'in')
        run('tc', '-n', this.#namespaces[box]!, 'qdisc', 'replace', 'dev', network, ...nothing);
      if (direction !== 'out') run('tc', 'qdisc', 'replace', 'dev', deviceOf(network, 1 + box), ...nothing);
    }
  }

  mend(box: number): void {
    for (const network of NETWORKS) {
      const commands = [
        ['tc', '-n', this.#namespaces[box]!, 'qdisc', 'del', 'dev', network, 'root'],
        ['tc', 'qdisc', 'del', 'dev', deviceOf(network, 1 + box), 'root'],
      ];
      for (const command of commands) {
        try {
          run(...command);
        } catch {
          // It was not cut.
        }
      }
    }
  }

  /** Whatever runs in there ends. */
  remove(): void {
    this.#guard.stdin?.end();
    run('sh', '-c', removal(this.#namespaces));
  }

  #tie(namespace: string, network: NetworkName, host: number): void {
    const device = deviceOf(network, host);
    run('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', network, 'netns', namespace);
    run('ip', 'link', 'set', device, 'master', bridgeOf(network), 'up');
    run('ip', '-n', namespace, 'addr', 'add', `${addressIn(network, host)}/24`, 'dev', network);
    run('ip', '-n', namespace, 'link', 'set', network, 'up');
  }
}

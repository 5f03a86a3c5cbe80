import { useEffect } from 'preact/hooks';
import { api, may } from '../../data/session.js';
import { showDuration } from '../../data/time.js';
import type { Cluster } from '../../data/types.js';
import { confirm } from '../../parts/confirm.js';
import { Menu } from '../../parts/menu.js';
import { PageBody } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Badge, Banner, Skeleton } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toasts.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { clusterText } from '../../text/cluster.js';
import type { PageProps } from '../table.js';
import styles from './cluster.module.css';
import { type Wrong, wrongsOf } from './wrongs.js';

type Box = Cluster['boxes'][number];
type State = Box['state'] | 'awaited';

const REFRESH_MS = 2_000;

const badges = {
  here: { tone: 'ok', icon: 'ok' },
  leaving: { tone: 'warn', icon: 'signOut' },
  lost: { tone: 'danger', icon: 'fault' },
  awaited: { tone: 'warn', icon: 'clock' },
} as const;

const lasting = (sec: number): string => showDuration(sec * 1_000);

const wrongText = (wrong: Wrong): string => {
  switch (wrong.kind) {
    case 'fault':
      return clusterText('wrongFault', { why: wrong.why });
    case 'majority':
      return clusterText('wrongMajority');
    case 'lost':
      return clusterText(wrong.isTaken ? 'wrongLost' : 'wrongLostOnly', {
        name: wrong.name,
        duration: lasting(wrong.sinceSec),
      });
    case 'unowned':
      return clusterText('wrongUnowned', { count: wrong.count });
    case 'doubled':
      return clusterText('wrongDoubled', { count: wrong.count });
    case 'deaf':
      return clusterText('wrongDeaf', { name: wrong.name, others: wrong.others.join(', ') });
    case 'store':
    case 'queue':
      return clusterText(wrong.kind === 'store' ? 'wrongStore' : 'wrongQueue', {
        ...{ name: wrong.name, count: wrong.count, duration: lasting(wrong.sec) },
      });
    case 'versions':
      return clusterText('wrongVersions', { versions: wrong.versions.join(', ') });
    case 'awaited':
      return clusterText('wrongAwaited', { name: wrong.name });
  }
};

const grave: ReadonlySet<Wrong['kind']> = new Set(['fault', 'majority', 'lost', 'unowned']);

const Wrongs = ({ wrongs }: { readonly wrongs: readonly Wrong[] }) =>
  wrongs.length === 0 ? (
    <Banner tone="ok">{clusterText('well')}</Banner>
  ) : (
    <ul class={styles.wrongs} aria-label={clusterText('wrongs')}>
      {wrongs.map((wrong) => (
        <li key={wrongText(wrong)}>
          <Banner tone={grave.has(wrong.kind) ? 'danger' : 'warn'}>{wrongText(wrong)}</Banner>
        </li>
      ))}
    </ul>
  );

const Facts = ({ cluster }: { readonly cluster: Cluster }) => {
  const { boxes, awaited, box, cameras_unowned, cameras_doubled } = cluster;
  const here = boxes.filter(({ state }) => state !== 'lost');
  const facts = [
    [clusterText('thisBox'), box],
    [
      clusterText('boxesHere'),
      clusterText('countOf', { count: here.length, all: boxes.length + awaited.length }),
    ],
    [clusterText('camerasHere'), here.reduce((sum, { cameras }) => sum + cameras, 0)],
    [clusterText('unowned'), cameras_unowned],
    [clusterText('doubled'), cameras_doubled],
  ] as const;
  return (
    <dl class={styles.facts} aria-label={clusterText('facts')}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
};

const forget = async (name: string): Promise<boolean> => {
  const isSo = await confirm({
    title: clusterText('forgetTitle', { name }),
    text: clusterText('forgetWarning'),
    action: clusterText('forgetAction'),
    isDangerous: true,
  });
  if (!isSo) return false;
  const { untold } = await api<{ readonly untold: readonly string[] }>(
    'DELETE',
    `/api/cluster/boxes/${encodeURIComponent(name)}`,
  );
  toast({
    text:
      untold.length === 0
        ? clusterText('forgotten', { name })
        : clusterText('forgottenBut', { name, boxes: untold.join(', ') }),
  });
  return true;
};

const Queue = ({ s3 }: Pick<Box, 's3'>) => {
  if (s3 === null) return null;
  if (s3.waiting === 0) return <>{clusterText('queueNone')}</>;
  const text = clusterText('queueOf', { count: s3.waiting, duration: lasting(s3.oldest_sec) });
  return (
    <>
      {text}
      {s3.up ? null : <Badge tone="warn">{clusterText('queueDown')}</Badge>}
    </>
  );
};

const hearsText = ({ hears, name }: Box, here: readonly string[]): string => {
  const others = here.filter((other) => other !== name);
  if (others.length === 0 || hears.length === 0) return clusterText('hearsNobody');
  return others.every((other) => hears.includes(other)) ? clusterText('hearsAll') : hears.join(', ');
};

const Name = ({ name, isOwn, address }: { name: string; isOwn: boolean; address: string }) => (
  <>
    {name} {isOwn ? <span class={styles.quiet}>({clusterText('own')})</span> : null}
    {address === '' ? null : (
      <small>
        <a href={address}>{address}</a>
      </small>
    )}
  </>
);

const StateCell = ({ state, sinceSec }: { state: State; sinceSec: number | null }) => (
  <>
    <Badge {...badges[state]}>{clusterText(state)}</Badge>
    {sinceSec === null ? null : (
      <small>{clusterText('since', { duration: showDuration(sinceSec * 1_000) })}</small>
    )}
  </>
);

/** What is done with a box that isn't here. */
const useForget = (name: string, onChanged: () => void) => {
  const action = useAction(async () => {
    if (await forget(name)) onChanged();
  });
  const menu = may('cluster.manage') ? (
    <Menu
      icon="more"
      kind="quiet"
      label={clusterText('actions', { name })}
      items={[
        {
          label: clusterText('forget'),
          icon: 'remove',
          isDangerous: true,
          onSelect: () => void action.run(),
        },
      ]}
    />
  ) : null;
  const problem = action.problem === null ? null : <ProblemBox what={name} problem={action.problem} />;
  return { menu, problem };
};

type RowProps = { readonly cluster: Cluster; readonly onChanged: () => void };

const BoxRow = ({ box, cluster, onChanged }: RowProps & { readonly box: Box }) => {
  const { name, state, address, since_sec, version, load, capacity, cameras, s3 } = box;
  const { menu, problem } = useForget(name, onChanged);
  const isLost = state === 'lost';
  const here = cluster.boxes.filter((other) => other.state !== 'lost').map((other) => other.name);
  return (
    <tr>
      <td class={styles.two}>
        <Name name={name} isOwn={name === cluster.box} address={address} />
        {problem}
      </td>
      <td class={styles.two}>
        <StateCell state={state} sinceSec={since_sec} />
      </td>
      <td>{version}</td>
      <td>{isLost ? '' : clusterText('loadOf', { percent: Math.round(load * 100) })}</td>
      <td>{capacity}</td>
      <td>{isLost ? '' : <a href={`/cameras?box=${encodeURIComponent(name)}`}>{cameras}</a>}</td>
      <td>{isLost ? '' : hearsText(box, here)}</td>
      <td>
        <Queue s3={s3} />
      </td>
      <td>{isLost ? menu : null}</td>
    </tr>
  );
};

const AwaitedRow = ({ name, onChanged }: { readonly name: string; readonly onChanged: () => void }) => {
  const { menu, problem } = useForget(name, onChanged);
  return (
    <tr>
      <td class={styles.two}>
        {name}
        {problem}
      </td>
      <td>
        <StateCell state="awaited" sinceSec={null} />
      </td>
      <td colSpan={6} />
      <td>{menu}</td>
    </tr>
  );
};

const Boxes = ({ cluster, onChanged }: RowProps) => (
  <Table
    caption={clusterText('list')}
    head={[
      ...[clusterText('box'), clusterText('state'), clusterText('version'), clusterText('load')],
      ...[clusterText('capacity'), clusterText('cameras'), clusterText('hears'), clusterText('queue'), ''],
    ]}
  >
    {cluster.boxes.map((box) => (
      <BoxRow key={box.name} box={box} cluster={cluster} onChanged={onChanged} />
    ))}
    {cluster.awaited.map((name) => (
      <AwaitedRow key={name} name={name} onChanged={onChanged} />
    ))}
  </Table>
);

/** The boxes that are one service, as the one sees them that answers. */
export const page = (_props: PageProps) => {
  const cluster = useLoaded((signal) => api<Cluster>('GET', '/api/cluster', { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) cluster.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <PageBody title={clusterText('title')}>
      {cluster.problem === null ? null : (
        <ProblemBox what={clusterText('failed')} problem={cluster.problem} onRetry={cluster.reload} />
      )}
      {cluster.value === null ? (
        cluster.problem === null && <Skeleton />
      ) : (
        <>
          <Wrongs wrongs={wrongsOf(cluster.value)} />
          <Facts cluster={cluster.value} />
          <Boxes cluster={cluster.value} onChanged={cluster.reload} />
        </>
      )}
    </PageBody>
  );
};

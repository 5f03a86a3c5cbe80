import type { FunctionComponent } from 'preact';
import type { Permission } from '../../auth/permissions.js';
import { me } from '../data/session.js';
import type { IconName } from '../parts/icons.js';
import { shellText } from '../text/shell.js';

/** What a page is given: the parts of its path behind its name. */
export type PageProps = { readonly rest: readonly string[] };
export type Page = {
  /** The first part of its path. */
  readonly name: string;
  readonly title: () => string;
  readonly icon: IconName;
  /** Who lacks it neither sees the page nor a way to it; null: everybody who is signed in. */
  readonly needs: Permission | null;
  /** Whether there is something to be seen in it here; always, where nothing is said. */
  readonly isOffered?: () => boolean;
  /** In the rail, and in the bar of phones; the others are reached from a page. */
  readonly place: 'bar' | 'rail' | 'none';
  readonly load: () => Promise<{ readonly page: FunctionComponent<PageProps> }>;
};

/** Every page there is: adding one is a line here. */
export const pages: readonly Page[] = [
  {
    name: 'wall',
    title: () => shellText('wall'),
    icon: 'grid',
    needs: 'wall.open',
    place: 'bar',
    load: () => import('./wall/wall.js'),
  },
  {
    name: 'camera',
    title: () => shellText('camera'),
    icon: 'cctv',
    needs: 'wall.open',
    place: 'none',
    load: () => import('./camera/camera.js'),
  },
  {
    name: 'archive',
    title: () => shellText('archive'),
    icon: 'archive',
    needs: 'cameras.list',
    place: 'bar',
    load: () => import('./archive/archive.js'),
  },
  {
    name: 'events',
    title: () => shellText('events'),
    icon: 'bell',
    needs: 'events.read',
    place: 'bar',
    load: () => import('./events/events.js'),
  },
  {
    name: 'cameras',
    title: () => shellText('cameras'),
    icon: 'cctv',
    needs: 'cameras.list',
    place: 'rail',
    load: () => import('./cameras/cameras.js'),
  },
  {
    name: 'users',
    title: () => shellText('users'),
    icon: 'users',
    needs: 'users.manage',
    place: 'rail',
    load: () => import('./users/users.js'),
  },
  {
    name: 'keys',
    title: () => shellText('apiKeys'),
    icon: 'key',
    needs: 'keys.manage',
    place: 'rail',
    load: () => import('./keys/keys.js'),
  },
  {
    name: 'webhooks',
    title: () => shellText('webhooks'),
    icon: 'share',
    needs: 'webhooks.manage',
    place: 'rail',
    load: () => import('./webhooks/webhooks.js'),
  },
  {
    name: 'system',
    title: () => shellText('system'),
    icon: 'chart',
    needs: 'stats.read',
    place: 'rail',
    load: () => import('./system/system.js'),
  },
  {
    name: 'cluster',
    title: () => shellText('cluster'),
    icon: 'server',
    needs: 'cluster.read',
    isOffered: () => me.value?.box !== undefined,
    place: 'rail',
    load: () => import('./cluster/cluster.js'),
  },
  {
    name: 'logs',
    title: () => shellText('logs'),
    icon: 'logs',
    needs: 'logs.read',
    place: 'rail',
    load: () => import('./logs/logs.js'),
  },
  {
    name: 'me',
    title: () => shellText('me'),
    icon: 'user',
    needs: null,
    place: 'rail',
    load: () => import('./me/me.js'),
  },
  {
    name: 'setup',
    title: () => shellText('setup'),
    icon: 'settings',
    needs: 'settings.manage',
    place: 'none',
    load: () => import('./setup/setup.js'),
  },
];

import archive from 'lucide-static/icons/archive.svg?raw';
import bell from 'lucide-static/icons/bell.svg?raw';
import cctv from 'lucide-static/icons/cctv.svg?raw';
import chart from 'lucide-static/icons/chart-no-axes-combined.svg?raw';
import user from 'lucide-static/icons/circle-user.svg?raw';
import more from 'lucide-static/icons/ellipsis.svg?raw';
import grid from 'lucide-static/icons/layout-grid.svg?raw';
import logs from 'lucide-static/icons/scroll-text.svg?raw';
import users from 'lucide-static/icons/users.svg?raw';
import close from 'lucide-static/icons/x.svg?raw';

/** The drawings that are used (Lucide, ISC), each by a name of ours: what isn't here is not loaded. */
const drawings = { archive, bell, cctv, chart, close, grid, logs, more, user, users } as const;

export type IconName = keyof typeof drawings;

/** What lies between the svg tags: size, stroke and colour are ours. */
export const drawingOf = (name: IconName): string =>
  drawings[name].replace(/^[\s\S]*?<svg[^>]*>/, '').replace(/<\/svg>\s*$/, '');

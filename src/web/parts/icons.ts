import activity from 'lucide-static/icons/activity.svg?raw';
import archive from 'lucide-static/icons/archive.svg?raw';
import bell from 'lucide-static/icons/bell.svg?raw';
import snapshot from 'lucide-static/icons/camera.svg?raw';
import car from 'lucide-static/icons/car.svg?raw';
import cctv from 'lucide-static/icons/cctv.svg?raw';
import chart from 'lucide-static/icons/chart-no-axes-combined.svg?raw';
import check from 'lucide-static/icons/check.svg?raw';
import down from 'lucide-static/icons/chevron-down.svg?raw';
import left from 'lucide-static/icons/chevron-left.svg?raw';
import right from 'lucide-static/icons/chevron-right.svg?raw';
import up from 'lucide-static/icons/chevron-up.svg?raw';
import ok from 'lucide-static/icons/circle-check.svg?raw';
import record from 'lucide-static/icons/circle-dot.svg?raw';
import help from 'lucide-static/icons/circle-help.svg?raw';
import user from 'lucide-static/icons/circle-user.svg?raw';
import fault from 'lucide-static/icons/circle-x.svg?raw';
import clock from 'lucide-static/icons/clock.svg?raw';
import copy from 'lucide-static/icons/copy.svg?raw';
import cpu from 'lucide-static/icons/cpu.svg?raw';
import download from 'lucide-static/icons/download.svg?raw';
import more from 'lucide-static/icons/ellipsis.svg?raw';
import folder from 'lucide-static/icons/folder.svg?raw';
import filter from 'lucide-static/icons/funnel.svg?raw';
import tour from 'lucide-static/icons/gallery-horizontal-end.svg?raw';
import disk from 'lucide-static/icons/hard-drive.svg?raw';
import info from 'lucide-static/icons/info.svg?raw';
import key from 'lucide-static/icons/key-round.svg?raw';
import keyboard from 'lucide-static/icons/keyboard.svg?raw';
import grid from 'lucide-static/icons/layout-grid.svg?raw';
import list from 'lucide-static/icons/list.svg?raw';
import lock from 'lucide-static/icons/lock.svg?raw';
import signOut from 'lucide-static/icons/log-out.svg?raw';
import maximize from 'lucide-static/icons/maximize.svg?raw';
import minimize from 'lucide-static/icons/minimize.svg?raw';
import minus from 'lucide-static/icons/minus.svg?raw';
import system from 'lucide-static/icons/monitor.svg?raw';
import moon from 'lucide-static/icons/moon.svg?raw';
import move from 'lucide-static/icons/move.svg?raw';
import pause from 'lucide-static/icons/pause.svg?raw';
import edit from 'lucide-static/icons/pencil.svg?raw';
import person from 'lucide-static/icons/person-standing.svg?raw';
import play from 'lucide-static/icons/play.svg?raw';
import plus from 'lucide-static/icons/plus.svg?raw';
import refresh from 'lucide-static/icons/rotate-cw.svg?raw';
import save from 'lucide-static/icons/save.svg?raw';
import scan from 'lucide-static/icons/scan-eye.svg?raw';
import cut from 'lucide-static/icons/scissors.svg?raw';
import logs from 'lucide-static/icons/scroll-text.svg?raw';
import search from 'lucide-static/icons/search.svg?raw';
import server from 'lucide-static/icons/server.svg?raw';
import settings from 'lucide-static/icons/settings.svg?raw';
import share from 'lucide-static/icons/share-2.svg?raw';
import previous from 'lucide-static/icons/skip-back.svg?raw';
import next from 'lucide-static/icons/skip-forward.svg?raw';
import stepBack from 'lucide-static/icons/step-back.svg?raw';
import stepForward from 'lucide-static/icons/step-forward.svg?raw';
import sun from 'lucide-static/icons/sun.svg?raw';
import tag from 'lucide-static/icons/tag.svg?raw';
import remove from 'lucide-static/icons/trash-2.svg?raw';
import warning from 'lucide-static/icons/triangle-alert.svg?raw';
import undo from 'lucide-static/icons/undo-2.svg?raw';
import upload from 'lucide-static/icons/upload.svg?raw';
import users from 'lucide-static/icons/users.svg?raw';
import sound from 'lucide-static/icons/volume-2.svg?raw';
import mute from 'lucide-static/icons/volume-x.svg?raw';
import offline from 'lucide-static/icons/wifi-off.svg?raw';
import close from 'lucide-static/icons/x.svg?raw';
import zoomIn from 'lucide-static/icons/zoom-in.svg?raw';
import zoomOut from 'lucide-static/icons/zoom-out.svg?raw';

/** The drawings that are used (Lucide, ISC), each by a name of ours: what isn't here is not loaded. */
const drawings = {
  ...{ activity, archive, bell, car, cctv, chart, check, clock, close, copy, cpu, cut, disk, down, download },
  ...{ edit, fault, filter, folder, grid, help, info, key, keyboard, left, list, lock, logs, maximize },
  ...{ minimize, minus, moon, more, move, mute, next, offline, ok, pause, person, play, plus, previous },
  ...{ scan, tour },
  ...{
    record,
    refresh,
    remove,
    right,
    save,
    search,
    server,
    settings,
    share,
    signOut,
    snapshot,
    sound,
    stepBack,
  },
  ...{ stepForward, sun, system, tag, undo, up, upload, user, users, warning, zoomIn, zoomOut },
} as const;

export type IconName = keyof typeof drawings;

/** What lies between the svg tags: size, stroke and colour are ours. */
export const drawingOf = (name: IconName): string =>
  drawings[name].replace(/^[\s\S]*?<svg[^>]*>/, '').replace(/<\/svg>\s*$/, '');

import { makeVideo, options, videoControls, videoStats } from './common.js';

const view = makeVideo();
view.video.autoplay = options.autoplay;
view.video.preload = 'auto';
view.video.src = options.url;

window.player = {
  ...videoControls(view),
  stats: () => videoStats(view),
  close: () => {
    view.video.removeAttribute('src');
    view.video.load();
  },
};

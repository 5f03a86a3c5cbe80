import './styles/layers.css';
import { render } from 'preact';
import { startCameras } from './data/cameras.js';
import { startHappenings } from './data/happenings-feed.js';
import { query, startRouting } from './data/route.js';
import { startTheme } from './data/theme.js';
import { App } from './shell/app.js';
import { usePseudoLocale } from './text/catalogue.js';

if (query.peek().get('locale') === 'pseudo') usePseudoLocale();
startTheme();
startRouting();
startCameras();
startHappenings();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);

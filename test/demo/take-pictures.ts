import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppBrowser } from '../support/browser/app-page.js';

/** Pictures are moving, and what is loaded late is there. */
const SETTLED_MS = 6_000;
const QUALITY = 80;

const folder = join(import.meta.dirname, '../../../src/docs/pictures');
const shots = { wall: '/wall', archive: '/archive?cameras=atrium,gate', cameras: '/cameras' } as const;

/** The pictures of the README, taken of a demo that has run for some minutes: its address, and the password of `admin`. */
const takePictures = async (url: string, password: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const browser = await AppBrowser.launch();
  const { page } = await browser.signedIn(url, { username: 'admin', password });
  await page.setViewportSize({ width: 1_280, height: 760 });
  for (const [name, path] of Object.entries(shots)) {
    await page.goto(url + path);
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: QUALITY });
  }
  await browser.close();
};

const [url, password] = process.argv.slice(2);
if (url === undefined || password === undefined) {
  process.stderr.write('node dist/test/demo/take-pictures.js URL PASSWORD: what npm run demo has printed\n');
  process.exit(1);
}
await takePictures(url, password);

import { chromium } from 'playwright-core';
import { Browser, type BrowserPage } from './browser.js';

const WIDTH_PIXELS = 640;
const HEIGHT_PIXELS = 400;

export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--mute-audio',
  '--autoplay-policy=no-user-gesture-required',
  // Names of our own addresses would be announced by multicast, and nothing waits for them on loopback.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
  '--allow-loopback-in-peer-connection',
  // Whatever a browser would like to tell its makers, it finds no one. cams.test is this machine by a name that browsers
  // don't take for it: pages from there are as insecure as those of a machine in the house.
  '--host-resolver-rules=MAP cams.test 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
];

/** Debian's Chromium without a window: H.264 everywhere, no H.265. Playwright ends it with this process. */
export const launchChromium = (): Promise<Browser> =>
  Browser.launch(async (profileFolder) => {
    const context = await chromium.launchPersistentContext(profileFolder, {
      executablePath: '/usr/bin/chromium',
      headless: true,
      chromiumSandbox: false,
      viewport: { width: WIDTH_PIXELS, height: HEIGHT_PIXELS },
      args: chromiumArgs,
    });
    return {
      open: async (url): Promise<BrowserPage> => {
        const page = await context.newPage();
        const errors: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error') errors.push(message.text());
        });
        page.on('pageerror', (error) => errors.push(String(error)));
        await page.goto(url);
        return {
          errors,
          evaluate: (expression) => page.evaluate(expression),
          screenshot: async (path) => void (await page.screenshot({ path })),
          close: () => page.close(),
        };
      },
      close: () => context.close(),
    };
  });

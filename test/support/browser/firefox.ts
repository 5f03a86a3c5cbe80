import puppeteer from 'puppeteer-core';
import { Browser, type BrowserPage } from './browser.js';

const WIDTH_PIXELS = 640;
const HEIGHT_PIXELS = 400;
const DEAD_PORT = 9;
/** For Firefox to start, or to open a page, on a machine that is busy with something else. */
const PATIENCE_MS = 120_000;

const preferences = {
  'dom.media.webcodecs.h265.enabled': true,
  'media.hevc.enabled': true,
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  'app.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': '',
  'media.gmp-manager.url': '',
  'toolkit.telemetry.server': '',
  // Loopback goes past a proxy; whatever Firefox would like to tell its makers ends at this one.
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': DEAD_PORT,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': DEAD_PORT,
};

/** Debian's Firefox ESR without a window: the one that has H.265, in files, MSE and WebCodecs. */
export const launchFirefox = (): Promise<Browser> =>
  Browser.launch(async (profileFolder) => {
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: '/usr/bin/firefox-esr',
      headless: true,
      timeout: PATIENCE_MS,
      userDataDir: profileFolder,
      extraPrefsFirefox: preferences,
      defaultViewport: { width: WIDTH_PIXELS, height: HEIGHT_PIXELS },
    });
    const child = browser.process();
    const endWithTest = (): void => void child?.kill('SIGKILL');
    process.once('exit', endWithTest);
    return {
      open: async (url): Promise<BrowserPage> => {
        const page = await browser.newPage();
        const errors: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error') errors.push(message.text());
        });
        page.on('pageerror', (error) => errors.push(String(error)));
        await page.goto(url, { timeout: PATIENCE_MS });
        return {
          errors,
          evaluate: async <Value>(expression: string) => (await page.evaluate(expression)) as Value,
          screenshot: async (path) => void (await page.screenshot({ path: path as `${string}.png` })),
          close: () => page.close(),
        };
      },
      close: async () => {
        await browser.close();
        process.off('exit', endWithTest);
      },
    };
  });

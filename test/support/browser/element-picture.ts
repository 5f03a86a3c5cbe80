import type { Page } from 'playwright-core';

/** What a canvas or a video of a page shows, in luminance and as small as decoded pictures are compared. */
export const elementPicture = (page: Page, selector: string): { picture(): Promise<Buffer> } => ({
  picture: async () => {
    const text = await page.evaluate<string>(`(() => {
      const source = document.querySelector(${JSON.stringify(selector)});
      const canvas = new OffscreenCanvas(320, 180);
      const context = canvas.getContext('2d');
      context.drawImage(source, 0, 0, 320, 180);
      const { data } = context.getImageData(0, 0, 320, 180);
      const bytes = new Uint8Array(64 * 36);
      for (let y = 0; y < 36; y++) for (let x = 0; x < 64; x++) {
        let sum = 0;
        for (let v = y * 5; v < y * 5 + 5; v++) for (let u = x * 5; u < x * 5 + 5; u++) {
          const at = (v * 320 + u) * 4;
          sum += 0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2];
        }
        bytes[y * 64 + x] = sum / 25;
      }
      return btoa(String.fromCharCode(...bytes));
    })()`);
    return Buffer.from(text, 'base64');
  },
});

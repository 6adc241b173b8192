import { appendFileSync, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** A name of this machine that browsers do not trust as they trust `localhost`. */
export const PLAIN_HTTP_HOST = 'pay.test';

/** No sandbox: tests may run as root. The rest keeps the browser from calling its maker. */
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', `--host-resolver-rules=MAP ${PLAIN_HTTP_HOST} 127.0.0.1`],
];

/** Path of a Chromium: `CHROMIUM_BIN`, or the first one on the PATH; null if there is none. */
const findChromium = (): string | null =>
  process.env.CHROMIUM_BIN ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((file) => existsSync(file)) ??
  null;

/** Whether there is a browser; otherwise reports that tests are skipped. */
export const canTestInChromium = (tests: string): boolean => {
  if (findChromium()) return true;
  const reason = `${tests} are skipped: Chromium is missing; on Debian, apt-get install chromium installs it`;
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
  return false;
};

export const startChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium()!, args: FLAGS, headless: true });

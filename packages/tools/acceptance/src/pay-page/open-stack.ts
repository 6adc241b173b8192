import type { Browser } from 'playwright-core';
import { type EvmStack, onEvm, startEvmStack } from '../chains/evm-stack.ts';
import { canTestInChromium, startChromium } from './browser.ts';
import { CONFIRMATIONS } from './sale.ts';

/** Tests in a browser, on payments of the local chain. */
export const onPaymentPage = canTestInChromium('tests of the payment page in a browser') ? onEvm : describe.skip;

export const SLOW = 240_000;

/** A stack with a chain, and a browser, for the tests of a `describe`. */
export const withBrowser = (): { readonly evm: EvmStack; readonly browser: Browser } => {
  const open: { evm?: EvmStack; browser?: Browser } = {};
  beforeAll(async () => {
    [open.evm, open.browser] = await Promise.all([startEvmStack(CONFIRMATIONS), startChromium()]);
  }, SLOW);
  afterAll(async () => {
    await Promise.all([open.browser?.close(), open.evm?.stop()]);
  }, SLOW);
  return {
    get evm() {
      return open.evm!;
    },
    get browser() {
      return open.browser!;
    },
  };
};

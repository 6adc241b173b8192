import { createApi } from './harness/api.ts';
import { rpcOf } from './harness/chains.ts';
import { runningStack } from './harness/stack-files.ts';
import { parsePayOptions, PAY_HELP } from './pay/options.ts';
import { PayError } from './pay/pay-error.ts';
import { payOrder } from './pay/pay-order.ts';
import { payRefund } from './pay/pay-refund.ts';

/** Resolves to the exit code. */
const main = async (): Promise<number> => {
  const options = parsePayOptions(process.argv.slice(2));
  if (!options) {
    console.log(PAY_HELP);
    return 0;
  }
  const stack = await runningStack();
  if (!stack) return 1;
  const call = rpcOf(stack);
  if (!call) throw new PayError('the stack runs no chain: start it without CHAIN=off');
  const api = createApi(stack);
  try {
    const context = { api, call, print: (line: string) => console.log(line) };
    await ('refundId' in options ? payRefund(context, options) : payOrder(context, options));
    return 0;
  } finally {
    await api.close();
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof PayError ? error.message : `the payment failed: ${(error as Error).message}`);
  process.exitCode = 1;
}

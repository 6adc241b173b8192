import { AppError, isAppError, type ProviderCallbackCall, type RecordedProviderPayment } from '@cpg/contracts';
import { type CallContext, counterMetric, type MetricsRegistry } from '@cpg/platform';
import { lastQueries } from './last-queries.ts';
import { type LostCallbacksOptions, startLostCallbacks } from './lost-callbacks.ts';
import type { OutsideProvider } from './provider.ts';
import { queryProvider, type RecordReport, recordReports } from './reported-payment.ts';

export interface ProviderReportsOptions extends Omit<LostCallbacksOptions, 'query'> {
  readonly providers: readonly OutsideProvider[];
  readonly register: Parameters<typeof recordReports>[0]['register'];
  readonly metrics: Parameters<typeof receiveCallbacks>[0]['metrics'];
}

/** How payments learns of the payments of outside providers: by their callbacks, and by queries, the last one before
 *  an order ends. */
export const providerReports = ({ register, metrics, ...options }: ProviderReportsOptions) => {
  const { providers, log } = options;
  const record = recordReports({ register, log });
  const query = queryProvider({ record, log });
  return {
    receiveCallback: receiveCallbacks({ providers, record, metrics }),
    askLast: lastQueries({ providers, query, log }),
    /** Starts the queries, if there is a provider to ask. `stop` ends them and closes the connections. */
    startQueries: (leader: { readonly url: string; readonly waitUntilReady: () => Promise<void> }) => {
      const queries = providers.length === 0 ? null : startLostCallbacks({ ...options, ...leader, query });
      return {
        stop: async () => {
          await queries?.stop();
          await Promise.all(providers.map(({ close }) => close()));
        },
      };
    },
  };
};

export type ReceiveCallback = (
  provider: string,
  call: ProviderCallbackCall,
  context: CallContext,
) => Promise<RecordedProviderPayment>;

interface CallbackOptions {
  readonly providers: readonly OutsideProvider[];
  readonly record: RecordReport;
  readonly metrics?: MetricsRegistry | undefined;
}

/** Receives the callbacks of outside providers: verifies the signature of the raw body, then records the payment.
 *  Throws `not_found` for an unknown provider, `invalid_signature`, `invalid_request`, and like `recordReports`. */
export const receiveCallbacks = ({ providers, record, metrics }: CallbackOptions): ReceiveCallback => {
  const count = counterMetric(metrics, {
    name: 'provider_callbacks_total',
    help: 'Callbacks of outside providers by result: recorded, no_order or an error code',
    labelNames: ['provider', 'result'],
    known: providers.map(({ name }) => ({ provider: name, result: 'payment_conflict' })),
  });
  const receive = async (provider: OutsideProvider, call: ProviderCallbackCall, context: CallContext) => {
    const { timestamp, signature, body_base64: body } = call;
    const report = provider.verify({ timestamp, signature }, Buffer.from(body, 'base64'));
    return record(provider.name, report, context);
  };
  return async (name, call, context) => {
    const provider = providers.find((each) => each.name === name);
    if (!provider) throw new AppError('not_found', 'no provider has this name');
    try {
      const { payment, order } = await receive(provider, call, context);
      count({ provider: name, result: order ? 'recorded' : 'no_order' });
      return { payment_id: payment.id, status: payment.status, has_order: order !== null };
    } catch (error) {
      count({ provider: name, result: isAppError(error) ? error.code : 'internal_error' });
      throw error;
    }
  };
};

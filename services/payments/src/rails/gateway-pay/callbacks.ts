import { AppError, isAppError, type ProviderCallbackCall, type RecordedProviderPayment } from '@cpg/contracts';
import { type CallContext, counterMetric, type MetricsRegistry } from '@cpg/platform';
import type { OutsideProvider } from './provider.ts';
import type { RecordReport } from './reported-payment.ts';

export type ReceiveCallback = (
  provider: string,
  call: ProviderCallbackCall,
  context: CallContext,
) => Promise<RecordedProviderPayment>;

export interface CallbackOptions {
  readonly providers: readonly OutsideProvider[];
  readonly record: RecordReport;
  readonly metrics?: MetricsRegistry;
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

import { isAppError, type ProviderPayment, type RegisteredPayment } from '@cpg/contracts';
import type { CallContext, Logger } from '@cpg/platform';
import { isRefusedForGood, type RegisterPayment } from '../../matching/register.ts';
import type { OutsideProvider } from './provider.ts';

export type RecordReport = (
  provider: string,
  report: ProviderPayment,
  context: CallContext,
) => Promise<RegisteredPayment>;

/** Records what a provider reports. The same report again is the same payment. Throws `payment_conflict`, and raises an
 *  alarm, when a payment is reported again with another order, amount or currency. */
export const recordReports =
  ({ register, log }: { readonly register: RegisterPayment; readonly log: Logger }): RecordReport =>
  async (provider, { external_reference_id: id, paid_at: seenAt, ...payment }, context) => {
    const call = {
      ...payment,
      rail: 'gateway_pay' as const,
      provider_id: `${provider}:${id}`,
      confirmed: true,
      // A report that comes again is no second sighting of a failed payment.
      reinstates: false,
      ...(seenAt !== undefined && { seen_at: seenAt }),
    };
    try {
      return await register(call, { ...context, actor: `provider:${provider}` });
    } catch (error) {
      const where = { provider, providerId: call.provider_id, err: error };
      if (isAppError(error, 'payment_conflict')) log.error(where, 'provider changed a payment it had reported');
      else if (isRefusedForGood(error)) log.error(where, 'a payment of a provider can never be recorded');
      throw error;
    }
  };

/** Asks a provider for the payments of a reference, and records them. Rejects unless the provider answered and each
 *  payment that can ever be recorded is recorded. */
export type QueryProvider = (provider: OutsideProvider, reference: string, context: CallContext) => Promise<void>;

export const queryProvider = ({ record, log }: { readonly record: RecordReport; readonly log: Logger }) => {
  const recordAll = async (
    provider: string,
    reports: readonly ProviderPayment[],
    context: CallContext,
  ): Promise<void> => {
    const failures: unknown[] = [];
    for (const report of reports)
      await record(provider, report, context).catch((error: unknown) => {
        // `record` logged the others, and a repeat changes nothing.
        if (!isRefusedForGood(error)) failures.push(error);
      });
    if (failures.length > 0) throw failures[0];
  };
  const query: QueryProvider = async (provider, reference, context) => {
    const { name } = provider;
    const { payments, faults } = await provider.query(reference);
    if (faults.length > 0)
      log.error(
        { provider: name, reference, faults },
        'a provider names payments that cannot be read: ask it to correct them',
      );
    await recordAll(name, payments, context);
  };
  return query;
};

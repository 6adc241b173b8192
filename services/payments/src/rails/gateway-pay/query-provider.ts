import type { ProviderPayment } from '@cpg/contracts';
import type { CallContext, Logger } from '@cpg/platform';
import { isRefusedForGood } from '../../matching/register.ts';
import type { OutsideProvider } from './provider.ts';
import type { RecordReport } from './reported-payment.ts';

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

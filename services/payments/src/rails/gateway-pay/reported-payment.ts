import { invalidRequest, isAppError, type ProviderPayment, type RegisteredPayment } from '@cpg/contracts';
import { type CallContext, type Logger, validationDetails } from '@cpg/platform';
import type { z } from 'zod';
import { isRefusedForGood, type RegisterPayment } from '../../matching/register.ts';

/** Throws `invalid_request` with every fault. */
export const parseReport = <T extends z.ZodType>(schema: T, body: Buffer): z.output<T> => {
  const parsed = schema.safeParse(jsonIn(body));
  if (parsed.success) return parsed.data;
  throw invalidRequest(validationDetails(parsed.error));
};

const jsonIn = (body: Buffer): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw invalidRequest([{ path: 'body', message: 'is not valid JSON in UTF-8' }]);
  }
};

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

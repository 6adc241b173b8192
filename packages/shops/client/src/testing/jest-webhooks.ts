import { ApiError, type Client, type CreateWebhookDto, type UpdateWebhookDto, type Webhook } from '@cpg/sdk';

/** The webhooks of a gateway in memory, with its Idempotency-Keys. `step` runs before and after each request. */
export const webhooksInMemory = (step: () => Promise<void> = async () => {}) => {
  const webhooks = new Map<string, Webhook>();
  let created = 0;
  const answers = new Map<string, { readonly body: string; readonly id: string }>();
  const refuse = (status: number, code: string) => {
    throw new ApiError(new Response(null, { status }), { code, message: code }, undefined);
  };
  const own = (id: string): Webhook => webhooks.get(id) ?? refuse(404, 'not_found');
  const request = async <T>(work: () => T): Promise<T> => {
    await step();
    const answer = work();
    await step();
    return answer;
  };
  const client = {
    createWebhook: (body: CreateWebhookDto, { idempotencyKey: key }: { idempotencyKey: string }) =>
      request(() => {
        const known = answers.get(key);
        if (known && known.body !== JSON.stringify(body)) refuse(422, 'idempotency_key_reused');
        if (known && !webhooks.has(known.id)) refuse(410, 'webhook_deleted');
        const id = known?.id ?? `whk_${(created += 1)}`;
        if (!known) {
          webhooks.set(id, { ...body, id, merchant_id: 'mer_1', is_enabled: false });
          answers.set(key, { body: JSON.stringify(body), id });
        }
        return { ...own(id), secret: `whsec_${id}` };
      }),
    getWebhook: (id: string) => request(() => own(id)),
    updateWebhook: (id: string, changes: UpdateWebhookDto) =>
      request(() => {
        webhooks.set(id, { ...own(id), ...changes } as Webhook);
        return own(id);
      }),
    listWebhooks: () => request(() => ({ items: [...webhooks.values()] })),
    deleteWebhook: (id: string) =>
      request(() => {
        own(id);
        webhooks.delete(id);
      }),
  } as unknown as Client;
  /** As after 24 hours. */
  const forgetKeys = () => answers.clear();
  return { client, webhooks, forgetKeys };
};

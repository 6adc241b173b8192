import Fastify from 'fastify';
import { verify, WebhookVerificationError } from '@cpg/sdk/webhooks';

export const app = Fastify();

// Only in this plugin: keep the body as bytes instead of parsing it.
app.register(async (hooks) => {
  hooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body));
  hooks.setErrorHandler((error, request, reply) =>
    reply.code(error instanceof WebhookVerificationError ? 400 : 500).send(),
  );
  hooks.post('/hook', async (request, reply) => {
    const event = verify(request.body, request.headers, process.env.WEBHOOK_SECRET);
    // In a shop: await store(db, event), which acts on an event once.
    if (event.event === 'order:paid') console.log(`${event.data.external_reference_id} is paid`);
    return reply.code(204).send();
  });
});

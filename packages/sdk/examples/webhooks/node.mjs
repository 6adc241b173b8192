import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verify, WebhookVerificationError } from '@cpg/sdk/webhooks';

export const server = createServer(async (request, response) => {
  try {
    const rawBody = await buffer(request);
    const event = verify(rawBody, request.headers, process.env.WEBHOOK_SECRET);
    // In a shop: await store(db, event), which acts on an event once.
    if (event.event === 'order:paid') console.log(`${event.data.external_reference_id} is paid`);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
  }
});

import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verify, WebhookVerificationError } from '@cpg/sdk/webhooks';

export const server = createServer(async (request, response) => {
  try {
    const rawBody = await buffer(request);
    const event = verify(rawBody, request.headers, process.env.WEBHOOK_SECRET);
    if (event.event === 'order:paid') console.log(`ship ${event.data.external_reference_id}`);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
  }
});

export { listCoins, middlewares, receiveWebhook } from './http.ts';
export { job } from './job.ts';
export { provider } from './provider.ts';

import { render } from 'preact'
import { Arrivals } from './account/arrivals.js'
import { LiveFeed } from './api/live-feed.js'
import { messageOf } from './api/requests.js'
import { openSession } from './api/session.js'
import { App } from './shell/app.js'
import { sendToast } from './shell/toast.js'

const retryMs = 2000
const feed = new LiveFeed()
const arrivals = new Arrivals()
feed.listen(arrivals)
render(<App feed={feed} arrivals={arrivals} />, document.querySelector('#page')!)
void open()

async function open(): Promise<void> {
  try {
    await openSession()
  } catch (error) {
    sendToast(`The receiver does not answer: ${messageOf(error)}`)
    setTimeout(open, retryMs)
  }
}

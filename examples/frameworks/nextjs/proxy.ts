// Next.js calls this before each request that matches. It runs on Node.js.
import { type NextRequest, NextResponse } from 'next/server'
import { logger } from './logger'

export function proxy(request: NextRequest) {
  logger.info({ method: request.method, path: request.nextUrl.pathname }, 'request')
  return NextResponse.next()
}

export const config = { matcher: ['/', '/orders'] }

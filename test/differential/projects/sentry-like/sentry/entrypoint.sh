#!/bin/bash
exec sentry "$@"

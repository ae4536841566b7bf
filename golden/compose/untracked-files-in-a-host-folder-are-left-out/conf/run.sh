#!/bin/sh
exec nginx

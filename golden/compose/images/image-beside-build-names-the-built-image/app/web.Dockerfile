FROM nginx:1.27-alpine AS production
ARG VERSION

# railwatch as a container. The host's /sys and /proc come in read-only, and the network is the host's, whose devices are watched:
#
#   docker build -t railwatch .
#   docker run -d --name railwatch --network host --read-only --cap-drop ALL --security-opt no-new-privileges \
#     --mount type=bind,src=/sys,dst=/host/sys,ro --mount type=bind,src=/proc,dst=/host/proc,ro \
#     --tmpfs /run/railwatch:uid=29400,gid=29400,mode=0750 --mount type=volume,src=railwatch,dst=/var/lib/railwatch railwatch
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
# Not rust-toolchain.toml: the base image is the toolchain, and rustup would fetch lints nobody runs here.
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY templates templates
RUN cargo build --release --locked --bin railwatch

FROM debian:bookworm-slim
# The C library is all it needs. A volume takes over owner and mode of the directory it is mounted on.
RUN groupadd --gid 29400 railwatch \
 && useradd --uid 29400 --gid railwatch --no-create-home --home-dir /var/lib/railwatch --shell /usr/sbin/nologin railwatch \
 && install -d -o railwatch -g railwatch -m 0750 /var/lib/railwatch /run/railwatch
COPY --from=build /src/target/release/railwatch /usr/bin/railwatch
COPY deploy/railwatch.toml /etc/railwatch/railwatch.toml
USER 29400:29400
ENV RAILWATCH__PATH__SYSFS=/host/sys RAILWATCH__PATH__PROCFS=/host/proc
EXPOSE 29400
# No command of the daemon's asks whether it is ready yet; an orchestrator asks /-/ready over HTTP.
HEALTHCHECK NONE
ENTRYPOINT ["/usr/bin/railwatch"]
CMD ["run"]

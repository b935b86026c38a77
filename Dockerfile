# syntax=docker/dockerfile:1
# Two images: docker build --target worker -t snapper-worker:0.1.0 .        docker build --target dashboard -t snapper-dashboard:0.1.0 .
# For builds that can be repeated give digests: --build-arg SDK_IMAGE=...@sha256:... --build-arg RUNTIME_IMAGE=...@sha256:...
ARG SDK_IMAGE=mcr.microsoft.com/dotnet/sdk:10.0-noble
# Without a shell, a package manager or a root user's tools.
ARG RUNTIME_IMAGE=mcr.microsoft.com/dotnet/aspnet:10.0-noble-chiseled

FROM ${SDK_IMAGE} AS sources
ENV DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
WORKDIR /source
COPY global.json Directory.Build.props Directory.Packages.props .editorconfig ./
COPY src/ src/

FROM sources AS worker-build
RUN dotnet restore src/Snapper.Server --locked-mode
RUN dotnet publish src/Snapper.Server -c Release --no-restore -p:UseAppHost=false -o /app && mkdir /data

FROM sources AS dashboard-build
COPY dashboard/ dashboard/
RUN dotnet restore dashboard/Snapper.Dashboard --locked-mode
RUN dotnet publish dashboard/Snapper.Dashboard -c Release --no-restore -p:UseAppHost=false -o /app

FROM ${RUNTIME_IMAGE} AS dashboard
WORKDIR /app
COPY --from=dashboard-build /app ./
USER 1654:1654
EXPOSE 8080
ENTRYPOINT ["dotnet", "Snapper.Dashboard.dll"]

FROM ${RUNTIME_IMAGE} AS worker
# The base image names a port that the worker does not use: it listens where its own settings say.
ENV ASPNETCORE_HTTP_PORTS= SNAPPER_DATA=/data
WORKDIR /app
COPY --from=worker-build /app ./
COPY --from=worker-build --chown=1654:1654 /data /data
USER 1654:1654
EXPOSE 5101
ENTRYPOINT ["dotnet", "Snapper.Server.dll"]
CMD ["worker"]

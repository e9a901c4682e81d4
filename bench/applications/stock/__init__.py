"""Stock Django REST framework: model serializers, API views, simplejwt, role permissions, throttles, JSON."""
